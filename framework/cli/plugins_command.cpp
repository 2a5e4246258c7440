#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "framework/checks/plugin_library.h"
#include "framework/cli/arguments.h"

namespace compatrix::cli {
namespace {

nlohmann::ordered_json catalogue_json(const PluginCatalogue& catalogue) {
  nlohmann::ordered_json json{{"schema", "compatrix/plugins/1"},
                              {"plugins", nlohmann::ordered_json::array()},
                              {"refused", nlohmann::ordered_json::array()}};
  for (const PluginFile& plugin : catalogue.plugins) {
    const PluginNote& note = plugin.note;
    nlohmann::ordered_json entry{{"name", note.name},
                                 {"version", note.version},
                                 {"file", plugin.path.string()},
                                 {"abi", fmt::format("{}.{}", note.abi_major, note.abi_minor)},
                                 {"compiler", note.compiler},
                                 {"cxx_abi", note.cxx_abi},
                                 {"cuda_toolkit", note.cuda_toolkit},
                                 {"torch", note.torch},
                                 {"checks", nlohmann::ordered_json::array()}};
    for (const auto& check : note.checks)
      entry["checks"].push_back({{"id", check.id}, {"summary", check.summary}, {"needs", check.needs}});
    json["plugins"].push_back(std::move(entry));
  }
  for (const Error& refused : catalogue.refused) json["refused"].push_back(refused.text());
  return json;
}

}  // namespace

int plugins_command(const Arguments& arguments) {
  cxxopts::Options options("compatrix plugins", "Lists the check plugins that were found, without loading them.");
  options.add_options()("format", "table or json", cxxopts::value<std::string>()->default_value("table"));
  const ParsedArguments parsed = parse(options, "plugins", arguments);
  if (!parsed.result) return parsed.exit_code;
  const PluginCatalogue catalogue = find_plugins(plugin_folders());
  if ((*parsed.result)["format"].as<std::string>() == "json") {
    fmt::print("{}\n", catalogue_json(catalogue).dump(1));
    return 0;
  }
  for (const PluginFile& plugin : catalogue.plugins) {
    const PluginNote& note = plugin.note;
    fmt::print("{} {}  ABI {}.{}, {}, C++ ABI {}, CUDA toolkit {}, torch {}\n  {}\n", note.name, note.version,
               note.abi_major, note.abi_minor, note.compiler, note.cxx_abi, note.cuda_toolkit, note.torch,
               plugin.path.string());
    for (const auto& check : note.checks) fmt::print("  check {}: {}\n", check.id, check.summary);
  }
  for (const Error& refused : catalogue.refused) fmt::print("refused  {}\n", refused.text());
  if (catalogue.plugins.empty()) {
    print_error("no plugins were found; name their folder with COMPATRIX_PLUGIN_PATH");
    return 3;
  }
  return 0;
}

}  // namespace compatrix::cli
