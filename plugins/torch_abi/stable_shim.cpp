#include "stable_shim.h"

#include <algorithm>
#include <optional>

#include "causes.h"
#include "finding.h"
#include "layout.h"
#include "shim_symbols.h"

namespace torch_abi {
namespace {

// Parts of torch that promise nothing from one release to the next: its C++ and the objects of its Python binding.
bool is_unstable_part(std::string_view symbol) {
  return is_torch_cpp_symbol(symbol) || symbol.starts_with("THP") || symbol.find("N6caffe2") != std::string_view::npos;
}

void add_file(ShimUse& use, const std::string& path, const compatrix_elf_facts& facts) {
  use.files.push_back(path);
  for (std::size_t i = 0; i < facts.needed_count; ++i)
    if (is_cuda_library(facts.needed[i])) add_once(use.cuda, facts.needed[i]);
}

ShimUse use_of(const std::vector<std::string>& functions, const SymbolSpans& table) {
  ShimUse use;
  for (const std::string& function : functions)
    if (!table.has(function)) use.unknown.push_back(function);
  use.releases = table.releases_with(functions);
  use.open_ended = !use.releases.empty() && use.releases.back() == table.releases().back();
  use.newest = table.newest_of(functions);
  return use;
}

}  // namespace

SymbolSpans shim_table() {
  return SymbolSpans::parse(kShimSymbols);
}

std::vector<std::string> shim_functions_only(const std::vector<std::string_view>& undefined) {
  std::vector<std::string> functions;
  for (const std::string_view symbol : undefined) {
    if (is_unstable_part(symbol)) return {};
    if (is_shim_name(symbol)) functions.emplace_back(symbol);
  }
  return functions;
}

std::string ShimUse::text() const {
  if (releases.empty()) return {};
  if (open_ended) return "torch " + releases.front() + " or later";
  return "torch " + releases.front() + (releases.size() == 1 ? "" : " to " + releases.back());
}

std::vector<ShimUse> shim_uses(const Cell& cell, const Judgement& judgement) {
  std::optional<SymbolSpans> table;  // few files need it
  std::vector<ShimUse> uses;
  for (const FileOutcome& file : judgement.files) {
    if (!file.counts()) continue;
    const compatrix_elf_facts* facts = cell.elf->facts(cell.run, file.path.c_str());
    if (facts == nullptr) throw FactsUnavailable{};
    const std::vector<std::string> functions =
        shim_functions_only({facts->undefined, facts->undefined + facts->undefined_count});
    if (functions.empty()) continue;
    if (!table) table = shim_table();
    ShimUse use = use_of(functions, *table);
    auto same = std::find_if(uses.begin(), uses.end(), [&](const ShimUse& other) {
      return other.releases == use.releases && other.unknown == use.unknown;
    });
    if (same == uses.end()) same = uses.insert(uses.end(), std::move(use));
    add_file(*same, file.path, *facts);
  }
  return uses;
}

void report_shim_uses(const Cell& cell, const std::vector<ShimUse>& uses) {
  for (const ShimUse& use : uses) {
    Fields fields;
    add(fields, "files", use.files);
    add(fields, "releases", use.releases);
    add(fields, "newest_function", use.newest);
    add(fields, "unknown", use.unknown);
    add(fields, "cuda_libraries", use.cuda);
    std::string sentence = plural(use.files.size(), "file") + (use.files.size() == 1 ? " asks" : " ask") +
                           " torch for nothing but functions of its stable C shim";
    if (use.releases.empty())
      sentence += use.unknown.empty() ? ", which no one release has all of"
                                      : "; " + use.unknown.front() + " is in none of the releases that are known";
    else
      sentence += ": " + use.text() + " will do, for " + use.newest + " is there from " + use.releases.front() + " on";
    if (!use.cuda.empty()) sentence += "; its CUDA must bring " + join(use.cuda, ", ");
    report_finding(cell, "", "stable-shim", use.files.front(), sentence, fields);
  }
}

}  // namespace torch_abi
