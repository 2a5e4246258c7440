#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "framework/answers/explanation.h"
#include "framework/cli/arguments.h"

namespace compatrix::cli {

int explain_command(const Arguments& arguments) {
  cxxopts::Options options("compatrix explain",
                           "Prints what a shared object, or each one in a wheel, needs and provides.");
  options.positional_help("FILE.so|FILE.whl");
  options.add_options()("file", "The file", cxxopts::value<std::string>())(
      "format", "text or json", cxxopts::value<std::string>()->default_value("text"));
  options.parse_positional({"file"});
  const ParsedArguments parsed = parse(options, "explain", arguments);
  if (!parsed.result) return parsed.exit_code;
  if (parsed.result->count("file") == 0) {
    print_error("which file? a shared object or a wheel");
    return kUsage;
  }
  const auto explanation = explain((*parsed.result)["file"].as<std::string>());
  if (!explanation) {
    print_error(explanation.error().text());
    return 1;
  }
  if ((*parsed.result)["format"].as<std::string>() == "json")
    fmt::print("{}\n", explanation_json(*explanation).dump(1));
  else
    fmt::print("{}", explanation_text(*explanation));
  return 0;
}

}  // namespace compatrix::cli
