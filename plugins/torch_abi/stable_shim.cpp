#include "stable_shim.h"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "causes.h"
#include "finding.h"
#include "layout.h"
#include "shim_symbols.h"

namespace torch_abi {
namespace {

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    if (end != at) words.push_back(line.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

// Parts of torch that promise nothing from one release to the next: its C++ and the objects of its Python binding.
bool is_unstable_part(std::string_view symbol) {
  return is_torch_cpp_symbol(symbol) || symbol.starts_with("THP") || symbol.find("N6caffe2") != std::string_view::npos;
}

void add_file(ShimUse& use, const std::string& path, const compatrix_elf_facts& facts) {
  use.files.push_back(path);
  for (std::size_t i = 0; i < facts.needed_count; ++i)
    if (is_cuda_library(facts.needed[i])) add_once(use.cuda, facts.needed[i]);
}

ShimUse use_of(const std::vector<std::string>& functions, const ShimTable& table) {
  ShimUse use;
  for (const std::string& function : functions)
    if (!table.has(function)) use.unknown.push_back(function);
  use.releases = table.releases_with(functions);
  use.open_ended = !use.releases.empty() && use.releases.back() == table.releases().back();
  use.newest = table.newest_of(functions);
  return use;
}

}  // namespace

ShimTable ShimTable::parse(std::string_view text) {
  ShimTable table;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::vector<std::string_view> words = words_of(text.substr(at, end - at));
    at = end + 1;
    if (words.empty() || words.front().front() == '#') continue;
    if (words.front() == "releases") {
      table.releases_.assign(words.begin() + 1, words.end());
      continue;
    }
    if (words.size() < 2 || words.size() > 3)
      throw std::runtime_error("shim_symbols.txt: a function, its first and perhaps its last release were expected");
    const Span span{.first = table.position(words[1]),
                    .last = words.size() == 3 ? table.position(words[2]) : table.releases_.size() - 1};
    table.spans_.emplace(words.front(), span);
  }
  return table;
}

ShimTable ShimTable::embedded() {
  return parse(kShimSymbols);
}

std::size_t ShimTable::position(std::string_view release) const {
  const auto place = std::find(releases_.begin(), releases_.end(), release);
  if (place == releases_.end()) throw std::runtime_error("shim_symbols.txt: unknown release " + std::string(release));
  return static_cast<std::size_t>(place - releases_.begin());
}

std::vector<std::string> ShimTable::releases_with(const std::vector<std::string>& symbols) const {
  Span all{.first = 0, .last = releases_.empty() ? 0 : releases_.size() - 1};
  for (const std::string& symbol : symbols) {
    const auto span = spans_.find(symbol);
    if (span == spans_.end()) return {};
    all = {.first = std::max(all.first, span->second.first), .last = std::min(all.last, span->second.last)};
  }
  std::vector<std::string> releases;
  for (std::size_t i = all.first; i <= all.last && i < releases_.size(); ++i) releases.push_back(releases_[i]);
  return releases;
}

std::string ShimTable::newest_of(const std::vector<std::string>& symbols) const {
  const std::string* newest = nullptr;
  std::size_t first = 0;
  for (const std::string& symbol : symbols)
    if (const auto span = spans_.find(symbol);
        span != spans_.end() && (newest == nullptr || span->second.first > first)) {
      newest = &symbol;
      first = span->second.first;
    }
  return newest == nullptr ? std::string() : *newest;
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
  std::optional<ShimTable> table;  // few files need it
  std::vector<ShimUse> uses;
  for (const FileOutcome& file : judgement.files) {
    if (!file.counts()) continue;
    const compatrix_elf_facts* facts = cell.elf->facts(cell.run, file.path.c_str());
    if (facts == nullptr) throw FactsUnavailable{};
    const std::vector<std::string> functions =
        shim_functions_only({facts->undefined, facts->undefined + facts->undefined_count});
    if (functions.empty()) continue;
    if (!table) table = ShimTable::embedded();
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
