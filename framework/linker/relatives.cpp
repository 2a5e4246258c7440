#include "framework/linker/relatives.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <numeric>
#include <string_view>
#include <utility>

#include "framework/elf/demangle.h"

namespace compatrix::linker {
namespace {

constexpr std::size_t kMostRelatives = 8, kMostTokens = 200;

std::uint64_t hash_of(std::string_view text) {
  return std::hash<std::string_view>{}(text);
}

// Words and single signs of a readable signature.
std::vector<std::string_view> tokens_of(std::string_view text) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  std::vector<std::string_view> tokens;
  for (std::size_t at = 0, end = 0; at < text.size() && tokens.size() < kMostTokens; at = end) {
    for (end = at; end < text.size() && is_word(text[end]);) ++end;
    end = std::max(end, at + 1);
    if (text[at] != ' ') tokens.push_back(text.substr(at, end - at));
  }
  return tokens;
}

// How many tokens must be inserted, removed or exchanged to get from one signature to the other.
std::size_t distance(std::string_view from, std::string_view to) {
  const std::vector<std::string_view> a = tokens_of(from), b = tokens_of(to);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t exchanged = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({exchanged, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

void put_nearest_first(const std::string& missing, Relatives::Nearest& nearest) {
  const std::string wanted = elf::without_string_abi(missing);
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (std::string& readable : nearest.instead) {
    const std::string plain = elf::without_string_abi(readable);
    if (plain == wanted && readable != missing) nearest.other_string_abi = readable;
    ranked.emplace_back(distance(wanted, plain), std::move(readable));
  }
  std::sort(ranked.begin(), ranked.end());
  ranked.resize(std::min(ranked.size(), kMostRelatives));
  nearest.instead.clear();
  for (auto& [apart, readable] : ranked) nearest.instead.push_back(std::move(readable));
}

}  // namespace

const Relatives::Index& Relatives::index_of(const elf::ElfFile& library) {
  const auto [place, made] = indices_.try_emplace(&library);
  Index& index = place->second;
  if (!made) return index;
  for (std::uint32_t i = 0; i < library.symbol_count(); ++i) {
    const elf::Symbol symbol = library.symbol(i);
    if (symbol.undefined()) continue;
    const std::string_view name = library.symbol_name(i);
    if (!name.starts_with("_Z")) continue;
    const elf::Entity entity = elf::entity_of(name);
    if (entity.name.empty()) continue;
    index.entities.emplace_back(hash_of(entity.name), i);
    if (entity.scope_size > 1) ++index.scopes[hash_of(entity.scope())];
  }
  std::sort(index.entities.begin(), index.entities.end());
  return index;
}

Relatives::Nearest Relatives::find(const std::string& symbol, std::span<const elf::ElfFile* const> libraries) {
  Nearest nearest;
  const elf::Entity entity = elf::entity_of(symbol);
  if (entity.name.empty()) return nearest;
  const std::uint64_t wanted = hash_of(entity.name), scope = hash_of(entity.scope());
  std::uint32_t most = 0;
  for (std::size_t i = 0; i < libraries.size(); ++i) {
    if (libraries[i] == nullptr) continue;
    const Index& index = index_of(*libraries[i]);
    auto at = std::lower_bound(index.entities.begin(), index.entities.end(),
                               std::pair<std::uint64_t, std::uint32_t>(wanted, 0));
    for (; at != index.entities.end() && at->first == wanted; ++at) {
      const std::string mangled(libraries[i]->symbol_name(at->second));
      if (mangled == symbol || elf::entity_of(mangled).name != entity.name) continue;
      std::string readable = elf::demangle(mangled);
      if (std::find(nearest.instead.begin(), nearest.instead.end(), readable) == nearest.instead.end())
        nearest.instead.push_back(std::move(readable));
      nearest.library = static_cast<int>(i);
    }
    if (!nearest.instead.empty()) {  // the first library that has the entity itself
      put_nearest_first(elf::demangle(symbol), nearest);
      break;
    }
    const auto members = entity.scope_size > 1 ? index.scopes.find(scope) : index.scopes.end();
    if (members != index.scopes.end() && members->second > most) {
      most = members->second;
      nearest.library = static_cast<int>(i);
    }
  }
  return nearest;
}

}  // namespace compatrix::linker
