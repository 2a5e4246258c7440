#include <algorithm>
#include <optional>
#include <set>

#include "compatrix/check.hpp"
#include "examination.h"
#include "framework/base/version.h"
#include "framework/wheel/dist_info.h"
#include "framework/wheel/marker.h"

namespace wheel_integrity {
namespace {

using compatrix::SpecifierSet;
using compatrix::Version;
namespace wheel = compatrix::wheel;

struct LinkedFacts {
  std::string torch_part;  // "links libtorch.so", said of the first file that uses torch
  std::string linking_file;
  std::optional<std::pair<Version, std::string>> glibc;  // newest GLIBC_ version needed, and the file that needs it
};

// The Itanium mangling of a name in namespace c10, at or torch, its qualifiers and kind of entity before it.
bool is_torch_symbol(std::string_view symbol) {
  if (!symbol.starts_with("_Z")) return false;
  const std::size_t name = symbol.find('N', 2);
  if (name == std::string_view::npos || symbol.substr(2, name - 2).find_first_not_of("TVISG") != std::string_view::npos)
    return false;
  std::string_view qualified = symbol.substr(name + 1);
  qualified.remove_prefix(std::min(qualified.find_first_not_of("rVKRO"), qualified.size()));
  return qualified.starts_with("3c10") || qualified.starts_with("2at") || qualified.starts_with("5torch");
}

// What a shared object has to do with torch, as half a sentence, or empty.
std::string torch_part_of(const compatrix_elf_facts& facts) {
  for (std::size_t i = 0; i < facts.needed_count; ++i)
    if (const std::string_view needed = facts.needed[i]; needed.starts_with("libtorch") || needed.starts_with("libc10"))
      return "links " + std::string(needed);
  for (std::size_t i = 0; i < facts.undefined_count; ++i)
    if (is_torch_symbol(facts.undefined[i])) return std::string("needs ") + facts.undefined[i];
  return {};
}

LinkedFacts read_shared_objects(const Examination& examination) {
  LinkedFacts linked;
  const std::vector<std::string> paths = examination.shared_objects();
  std::vector<const char*> views;
  for (const std::string& path : paths) views.push_back(path.c_str());
  examination.elf->prepare(examination.run, views.data(), views.size());
  for (const std::string& path : paths) {
    const compatrix_elf_facts* facts = examination.elf->facts(examination.run, path.c_str());
    if (facts == nullptr) throw compatrix::sdk::FactsUnavailable{};
    if (linked.torch_part.empty()) {
      linked.torch_part = torch_part_of(*facts);
      if (!linked.torch_part.empty()) linked.linking_file = path;
    }
    for (std::size_t i = 0; i < facts->version_need_count; ++i) {
      constexpr std::string_view kPrefix = "GLIBC_";
      const std::string_view name = facts->version_needs[i].version;
      if (!name.starts_with(kPrefix)) continue;
      const auto version = Version::parse(name.substr(kPrefix.size()));
      if (version && (!linked.glibc || *version > linked.glibc->first)) linked.glibc = std::pair(*version, path);
    }
  }
  return linked;
}

// What METADATA asks of other distributions of the cell.
void examine_requirements(Examination& examination, const wheel::Metadata& metadata, bool& declares_torch) {
  const auto* environment = examination.environment;
  const auto markers =
      wheel::marker_values(environment->python_version(examination.run), environment->machine(examination.run));
  for (const std::string& text : metadata.requires_dist) {
    const auto requirement = wheel::parse_requirement(text);
    if (!requirement) {
      examination.found.push_back({"", "requirement-unreadable", "", requirement.error().text(), {}, false});
      continue;
    }
    if (!requirement->marker.empty())
      if (const auto applies = wheel::marker_holds(requirement->marker, markers); applies && !*applies) continue;
    declares_torch |= requirement->project == "torch";
    const auto specifiers = SpecifierSet::parse(requirement->specifiers);
    if (!specifiers) continue;
    for (std::size_t i = 0; i < environment->distribution_count(examination.run); ++i) {
      const compatrix_distribution* other = environment->distribution(examination.run, i);
      const auto version = other->name == requirement->project ? Version::parse(other->version) : Version::parse("0");
      if (other->name != requirement->project || !version || specifiers->contains(*version)) continue;
      examination.found.push_back({"dependency-conflict",
                                   "requirement-not-met",
                                   "",
                                   "METADATA requires " + text + ", the cell has " + other->name + " " + other->version,
                                   {{"requires", text}, {"has", std::string(other->name) + " " + other->version}},
                                   false});
    }
  }
}

void examine_tags(Examination& examination, const wheel::WheelName& name) {
  const auto info = wheel::parse_wheel_info(examination.wheel().wheel);
  if (!info) {
    examination.found.push_back({"corrupt-wheel", "wheel-file-unreadable", "", info.error().text(), {}, true});
    return;
  }
  std::set<std::string> named, inside;
  for (const wheel::Tag& tag : name.tags) named.insert(tag.text());
  // A WHEEL line may itself be a compressed set: cp310-abi3-a.b
  for (const std::string& line : info->tags)
    if (const auto expanded = wheel::parse_wheel_name("x-1-" + line + ".whl"))
      for (const wheel::Tag& tag : expanded->tags) inside.insert(tag.text());
  if (named == inside) return;
  const auto joined = [](const std::set<std::string>& tags) {
    std::string text;
    for (const std::string& tag : tags) text += (text.empty() ? "" : ", ") + tag;
    return text;
  };
  examination.found.push_back({"",
                               "tag-mismatch",
                               "",
                               "the file name promises " + joined(named) + ", WHEEL inside says " + joined(inside),
                               {{"named", joined(named)}, {"inside", joined(inside)}},
                               false});
}

void examine_glibc(Examination& examination, const wheel::WheelName& name, const LinkedFacts& linked) {
  if (!linked.glibc) return;
  std::optional<Version> promised;
  for (const wheel::Tag& tag : name.tags)
    if (const auto glibc = wheel::promised_glibc(tag.platform))
      if (const auto version = Version::parse(*glibc); version && (!promised || *version < *promised))
        promised = *version;
  if (!promised || linked.glibc->first <= *promised) return;
  examination.found.push_back({"platform",
                               "glibc-above-tag",
                               linked.glibc->second,
                               "the platform tag promises glibc " + promised->text() + ", " + linked.glibc->second +
                                   " needs " + linked.glibc->first.text(),
                               {{"promised", promised->text()}, {"needed", linked.glibc->first.text()}},
                               false});
}

}  // namespace

void examine_metadata(Examination& examination) {
  const compatrix_distribution& distribution = examination.wheel();
  const auto metadata = wheel::parse_metadata(distribution.metadata);
  if (!metadata) {
    examination.found.push_back({"corrupt-wheel", "metadata-unreadable", "", metadata.error().text(), {}, true});
    return;
  }
  const LinkedFacts linked = read_shared_objects(examination);
  bool declares_torch = false;
  examine_requirements(examination, *metadata, declares_torch);
  if (!linked.torch_part.empty() && !declares_torch && std::string(distribution.name) != "torch")
    examination.found.push_back(
        {"",
         "undeclared-torch",
         linked.linking_file,
         linked.linking_file + " " + linked.torch_part + ", but METADATA does not require torch",
         {},
         false});
  const auto name = wheel::parse_wheel_name(distribution.file_name);
  if (!name) return;  // an installed distribution has no file name
  const auto own = Version::parse(metadata->version), named = Version::parse(name->version);
  if (wheel::normalise_project(metadata->name) != wheel::normalise_project(name->project) || !own || !named ||
      *own != *named)
    examination.found.push_back({"corrupt-wheel",
                                 "name-mismatch",
                                 "",
                                 "the file is named " + name->project + " " + name->version + ", METADATA says " +
                                     metadata->name + " " + metadata->version,
                                 {},
                                 true});
  examine_tags(examination, *name);
  examine_glibc(examination, *name, linked);
}

}  // namespace wheel_integrity
