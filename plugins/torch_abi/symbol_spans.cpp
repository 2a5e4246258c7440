#include "symbol_spans.h"

#include <algorithm>
#include <stdexcept>

#include "framework/base/text.h"

namespace torch_abi {

SymbolSpans SymbolSpans::parse(std::string_view text) {
  SymbolSpans table;
  for (const std::vector<std::string_view>& words : compatrix::table_rows(text)) {
    if (words.front() == "releases") {
      table.releases_.assign(words.begin() + 1, words.end());
      continue;
    }
    if (words.size() < 2 || words.size() > 3)
      throw std::runtime_error("symbol spans: a function, its first and perhaps its last release were expected");
    const Span span{.first = table.position(words[1]),
                    .last = words.size() == 3 ? table.position(words[2]) : table.releases_.size() - 1};
    table.spans_.emplace(words.front(), span);
  }
  return table;
}

std::size_t SymbolSpans::position(std::string_view release) const {
  const auto place = std::find(releases_.begin(), releases_.end(), release);
  if (place == releases_.end()) throw std::runtime_error("symbol spans: unknown release " + std::string(release));
  return static_cast<std::size_t>(place - releases_.begin());
}

std::vector<std::string> SymbolSpans::releases_with(const std::vector<std::string>& symbols) const {
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

std::string SymbolSpans::newest_of(const std::vector<std::string>& symbols) const {
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

}  // namespace torch_abi
