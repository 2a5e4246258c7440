#include "framework/answers/explanation.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "framework/base/text.h"
#include "framework/bytes/mapped_file.h"
#include "framework/bytes/owned_bytes.h"
#include "framework/elf/demangle.h"
#include "framework/environment/learn_wheel.h"
#include "framework/facts/extract.h"
#include "framework/facts/library_facts.h"
#include "framework/wheel/dist_info.h"

namespace compatrix {
namespace {

using Json = nlohmann::ordered_json;

Result<Explanation> explain_wheel(const std::filesystem::path& file) {
  auto archive = open_local_file(file);
  if (!archive) return archive.error();
  auto read = read_local_wheel(**archive, file.filename().string());
  if (!read) return read.error();
  std::map<std::string, std::string> libraries;
  for (auto& [member, encoded] : read->libraries) libraries.emplace(member, std::move(encoded));
  auto known = std::make_shared<facts::WheelFacts>(std::move(read->facts));
  known->index();
  Explanation explanation{.file = file.string(), .wheel = known, .objects = {}};
  for (const auto& [path, entry] : known->files()) {
    if (!wheel::is_shared_object_name(path)) continue;
    Result<std::string> encoded = std::string();
    if (const auto kept = libraries.find(entry->name); kept != libraries.end())
      encoded = std::move(kept->second);
    else
      encoded = facts::extract_library(**archive, *entry, {});  // what is no ELF file, or can't be read, says so here
    if (!encoded) {
      explanation.objects.push_back({.path = path, .elf = nullptr, .defect = encoded.error().message});
      continue;
    }
    auto library = facts::decode_library(path, std::make_shared<OwnedBytes>(std::move(*encoded)));
    if (!library) return library.error();
    explanation.objects.push_back({.path = path, .elf = library->elf, .defect = library->defect});
  }
  return explanation;
}

struct Symbols {
  std::vector<std::string> undefined, weak_undefined, defined;
};

Symbols symbols_of(const elf::ElfFile& elf) {
  Symbols symbols;
  for (std::uint32_t i = 1; i < elf.symbol_count(); ++i) {
    const elf::Symbol symbol = elf.symbol(i);
    const std::string_view name = elf.symbol_name(i);
    if (name.empty() || symbol.binding == elf::STB_LOCAL) continue;
    std::vector<std::string>& list = !symbol.undefined()               ? symbols.defined
                                     : symbol.binding == elf::STB_WEAK ? symbols.weak_undefined
                                                                       : symbols.undefined;
    list.emplace_back(visible_utf8(name));
  }
  return symbols;
}

Json object_json(const ExplainedObject& object) {
  if (!object.elf) return {{"file", visible_utf8(object.path)}, {"error", visible_utf8(object.defect)}};
  const elf::ElfFile& elf = *object.elf;
  const auto text = [](const std::optional<std::string_view>& value) {
    return value ? Json(visible_utf8(*value)) : Json(nullptr);
  };
  const Symbols symbols = symbols_of(elf);
  Json needs = Json::array();
  for (const elf::VersionNeed& need : elf.version_needs())
    for (const elf::VersionRequirement& version : need.versions)
      needs.push_back(
          {{"file", visible_utf8(need.file)}, {"version", visible_utf8(version.name)}, {"weak", version.weak}});
  Json needed = Json::array();
  for (const std::string_view name : elf.needed()) needed.push_back(visible_utf8(name));
  return {{"file", visible_utf8(object.path)},
          {"elf",
           {{"machine", elf.machine()},
            {"soname", text(elf.soname())},
            {"needed", needed},
            {"rpath", text(elf.rpath())},
            {"runpath", text(elf.runpath())},
            {"build_id", elf.tables().build_id},
            {"undefined", symbols.undefined},
            {"weak_undefined", symbols.weak_undefined},
            {"defined", symbols.defined},
            {"version_needs", needs}}}};
}

std::string object_text(const ExplainedObject& object) {
  if (!object.elf) return fmt::format("{}\n  {}\n", visible_utf8(object.path), visible_utf8(object.defect));
  const elf::ElfFile& elf = *object.elf;
  std::string text = visible_utf8(object.path) + "\n";
  const auto line = [&](const char* label, const std::string& value) {
    if (!value.empty()) text += fmt::format("  {:<9} {}\n", label, value);
  };
  line("soname", visible_utf8(elf.soname().value_or("")));
  line("rpath", visible_utf8(elf.rpath().value_or("")));
  line("runpath", visible_utf8(elf.runpath().value_or("")));
  line("build id", elf.tables().build_id);
  std::string needed;
  for (const std::string_view name : elf.needed()) needed += (needed.empty() ? "" : " ") + visible_utf8(name);
  line("needs", needed);
  // Of each file only the versions that it must define; the newest tells the platform.
  std::map<std::string, std::string> versions;
  for (const elf::VersionNeed& need : elf.version_needs())
    for (const elf::VersionRequirement& version : need.versions) {
      std::string& list = versions[visible_utf8(need.file)];
      list += (list.empty() ? "" : " ") + visible_utf8(version.name);
    }
  for (const auto& [file, list] : versions) line("versions", file + ": " + list);
  const Symbols symbols = symbols_of(elf);
  line("symbols", fmt::format("{} defined, {} undefined, {} weak undefined", symbols.defined.size(),
                              symbols.undefined.size(), symbols.weak_undefined.size()));
  if (elf.truncated()) line("damaged", "the file is shorter than its segments: opening it kills the process (SIGBUS)");
  return text;
}

}  // namespace

Result<Explanation> explain(const std::filesystem::path& file) {
  if (file.extension() == ".whl") return explain_wheel(file);
  auto mapped = MappedFile::open(file);
  if (!mapped) return mapped.error();
  auto elf = elf::read_elf(file.string(), *mapped);
  if (!elf) return elf.error();
  return Explanation{
      .file = file.string(), .wheel = nullptr, .objects = {{.path = file.string(), .elf = *elf, .defect = {}}}};
}

Json explanation_json(const Explanation& explanation) {
  Json json{{"schema", "compatrix/explain/1"}};
  if (!explanation.wheel) {
    json.update(object_json(explanation.objects.front()));
    return json;
  }
  json["file"] = visible_utf8(explanation.file);
  json["metadata"] = visible_utf8(explanation.wheel->metadata);
  json["wheel"] = visible_utf8(explanation.wheel->wheel);
  json["defects"] = Json::array();
  for (const wheel::ZipDefect& defect : explanation.wheel->directory.defects)
    json["defects"].push_back({{"rule", defect.rule},
                               {"ambiguous", defect.ambiguous},
                               {"entry", visible_utf8(defect.entry)},
                               {"offset", defect.offset},
                               {"message", visible_utf8(defect.message)}});
  json["objects"] = Json::array();
  for (const ExplainedObject& object : explanation.objects) json["objects"].push_back(object_json(object));
  return json;
}

std::string explanation_text(const Explanation& explanation) {
  std::string text;
  if (explanation.wheel) {
    text += visible_utf8(explanation.file) + "\n";
    if (const auto metadata = wheel::parse_metadata(explanation.wheel->metadata)) {
      text += fmt::format("  {} {}\n", visible_utf8(metadata->name), visible_utf8(metadata->version));
      for (const std::string& requirement : metadata->requires_dist)
        text += fmt::format("  requires  {}\n", visible_utf8(requirement));
    }
    if (const auto info = wheel::parse_wheel_info(explanation.wheel->wheel))
      for (const std::string& tag : info->tags) text += fmt::format("  tag       {}\n", visible_utf8(tag));
    text += fmt::format("  files     {}, of which {} shared objects\n", explanation.wheel->files().size(),
                        explanation.objects.size());
    for (const wheel::ZipDefect& defect : explanation.wheel->directory.defects)
      text += fmt::format("  defect    {} at offset {:#x}: {} {}\n", defect.rule, defect.offset,
                          visible_utf8(defect.entry), visible_utf8(defect.message));
  }
  for (const ExplainedObject& object : explanation.objects) text += object_text(object);
  return text;
}

}  // namespace compatrix
