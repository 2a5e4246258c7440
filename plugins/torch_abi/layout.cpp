#include "layout.h"

#include <algorithm>
#include <array>

#include "framework/wheel/dist_info.h"

namespace torch_abi {
namespace {

// Neighbouring minors between which objects that operators are registered with changed their layout although no symbol
// did. Learnt from real loads: of 943 files whose symbols all resolved, 17 died in dlopen, each of them built on one
// side of 2.8 | 2.9, opened on the other, and registering operators; the one such file that registers none loaded.
// Other borders are not known.
struct Border {
  std::string_view older, newer, evidence;
};
constexpr std::array kBorders{
    Border{"2.8", "2.9", "17 of 17 files that register operators across it died when they were really loaded"}};

// torch's own libraries, which define what extensions share with it.
std::vector<std::string> torch_libraries(const Cell& cell) {
  return cell.matching("torch/lib/lib*.so");
}

std::vector<Assertion> assertions_of(const Cell& cell, const std::string& file) {
  std::size_t count = 0;
  const compatrix_source_location* locations = cell.elf->source_locations(cell.run, file.c_str(), &count);
  if (count == SIZE_MAX) throw FactsUnavailable{};
  std::vector<Assertion> assertions;
  for (std::size_t i = 0; i < count; ++i) assertions.push_back({locations[i].header, locations[i].line});
  return assertions;
}

std::vector<SizeDifference> size_differences(const Cell& cell, const std::string& file,
                                             const std::vector<std::string>& libraries) {
  std::size_t count = 0;
  const compatrix_data_object* objects = cell.elf->data_objects(cell.run, file.c_str(), &count);
  if (count == SIZE_MAX) throw FactsUnavailable{};
  std::vector<SizeDifference> differences;
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_torch_cpp_symbol(objects[i].symbol)) continue;
    for (const std::string& library : libraries) {
      const std::uint64_t size = cell.elf->object_size(cell.run, library.c_str(), objects[i].symbol);
      if (size == 0) continue;
      if (size != objects[i].size) differences.push_back({objects[i].symbol, objects[i].size, size, library});
      break;
    }
  }
  return differences;
}

// The minor of torch that METADATA pins with ==, or nothing.
std::string pinned_torch(const compatrix_distribution& distribution) {
  const auto metadata = compatrix::wheel::parse_metadata(distribution.metadata);
  if (!metadata) return {};
  for (const std::string& text : metadata->requires_dist) {
    const auto requirement = compatrix::wheel::parse_requirement(text);
    if (requirement && requirement->project == "torch" && requirement->specifiers.starts_with("==") &&
        requirement->specifiers.find(',') == std::string::npos)
      return minor_of(std::string_view(requirement->specifiers).substr(2));
  }
  return {};
}

}  // namespace

bool is_torch_cpp_symbol(std::string_view mangled) {
  if (!mangled.starts_with("_Z")) return false;
  for (const std::string_view scope : {"N3c10", "NK3c10", "N2at", "NK2at", "N5torch", "NK5torch"})
    for (std::size_t at = mangled.find(scope); at != std::string_view::npos; at = mangled.find(scope, at + 1))
      if (const std::string_view rest = mangled.substr(at + scope.size());
          !rest.starts_with("6stable") && !rest.starts_with("10headeronly"))
        return true;
  return false;
}

bool is_registration_symbol(std::string_view mangled) {
  for (const std::string_view name : {"5torch7Library", "3c1017RegisterOperators", "3c1014FunctionSchema"})
    if (mangled.find(name) != std::string_view::npos) return true;
  return false;
}

LayoutVerdict verdict_for(const FileTraits& traits, std::string_view torch, std::string* border) {
  if (!traits.uses_cpp) return LayoutVerdict::same;
  const std::string minor = minor_of(torch);
  std::vector<std::string> built;
  for (const std::string& release : traits.build.releases) built.push_back(minor_of(release));
  if (built.empty() && !traits.pinned.empty()) built.push_back(traits.pinned);
  if (built.empty()) return traits.sizes_differ ? LayoutVerdict::risk : LayoutVerdict::unknown;
  if (std::find(built.begin(), built.end(), minor) != built.end()) return LayoutVerdict::same;
  if (!traits.registers_operators) return LayoutVerdict::risk;
  for (const Border& known : kBorders) {
    const auto before = [&](const std::string& m) { return !older_minor(known.older, m); };
    const auto after = [&](const std::string& m) { return !older_minor(m, known.newer); };
    const bool up = std::all_of(built.begin(), built.end(), before) && after(minor);
    const bool down = std::all_of(built.begin(), built.end(), after) && before(minor);
    if (!up && !down) continue;
    *border = std::string(known.older) + " | " + std::string(known.newer) + ": " + std::string(known.evidence);
    return LayoutVerdict::initialiser;
  }
  return LayoutVerdict::risk;
}

std::map<std::string, FileLayout> examine_layout(const Cell& cell, std::size_t distribution,
                                                 const std::vector<std::string>& files) {
  const int torch = cell.find("torch");
  const std::string version = cell.environment->distribution(cell.run, static_cast<std::size_t>(torch))->version;
  const std::string release = version.substr(0, version.find('+'));
  AssertionTable table = AssertionTable::embedded();
  std::map<std::string, std::vector<Assertion>> assertions;
  std::vector<Assertion> whole;
  for (const std::string& file : files) {
    assertions[file] = assertions_of(cell, file);
    whole.insert(whole.end(), assertions[file].begin(), assertions[file].end());
  }
  std::sort(whole.begin(), whole.end());
  whole.erase(std::unique(whole.begin(), whole.end()), whole.end());
  if (!table.has_release(release)) {
    // A release newer than the table, or a build of somebody's own: its headers are at hand.
    std::map<std::string, std::vector<std::uint32_t>> headers;
    for (const Assertion& assertion : whole)
      if (table.has_header(assertion.header) && !headers.contains(assertion.header))
        if (const char* text = cell.environment->read_text(cell.run, ("torch/include/" + assertion.header).c_str()))
          headers[assertion.header] = assertion_lines(text);
    table.add_release(release, headers);
  }
  const BuildTorch wheel = build_torch_of(whole, table);
  const std::string pinned = pinned_torch(*cell.environment->distribution(cell.run, distribution));
  const std::vector<std::string> libraries = torch_libraries(cell);

  std::map<std::string, FileLayout> layouts;
  for (const std::string& file : files) {
    const compatrix_elf_facts* facts = cell.elf->facts(cell.run, file.c_str());
    if (facts == nullptr) throw FactsUnavailable{};
    FileLayout& layout = layouts[file];
    FileTraits traits{.build = build_torch_of(assertions[file], table), .pinned = pinned};
    for (std::size_t i = 0; i < facts->undefined_count; ++i) {
      traits.uses_cpp |= is_torch_cpp_symbol(facts->undefined[i]);
      traits.registers_operators |= is_registration_symbol(facts->undefined[i]);
    }
    if (!traits.uses_cpp) continue;
    // A single file often fits several releases; its wheel as a whole fewer.
    const auto in_wheel = [&](const std::string& r) {
      return std::find(wheel.releases.begin(), wheel.releases.end(), r) != wheel.releases.end();
    };
    if (!traits.build.known() || std::any_of(traits.build.releases.begin(), traits.build.releases.end(), in_wheel))
      traits.build = wheel;
    layout.differences = size_differences(cell, file, libraries);
    traits.sizes_differ = !layout.differences.empty();
    layout.build = traits.build;
    layout.verdict = verdict_for(traits, release, &layout.border);
  }
  return layouts;
}

}  // namespace torch_abi
