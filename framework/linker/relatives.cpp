#include "framework/linker/relatives.h"

#include <algorithm>
#include <functional>
#include <string_view>

#include "framework/elf/demangle.h"

namespace compatrix::linker {
namespace {

constexpr std::size_t kMostRelatives = 8;

std::uint64_t hash_of(std::string_view text) {
  return std::hash<std::string_view>{}(text);
}

}  // namespace

const Relatives::Index& Relatives::index_of(const elf::ElfFile& library) {
  const auto [place, made] = indices_.try_emplace(&library);
  Index& index = place->second;
  if (!made) return index;
  for (std::uint32_t i = 0; i < library.symbol_count(); ++i) {
    const elf::Symbol symbol = library.symbol(i);
    if (symbol.undefined() || !symbol.name.starts_with("_Z")) continue;
    const elf::Entity entity = elf::entity_of(symbol.name);
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
    for (; at != index.entities.end() && at->first == wanted && nearest.instead.size() < kMostRelatives; ++at) {
      const std::string mangled(libraries[i]->symbol(at->second).name);
      if (mangled == symbol || elf::entity_of(mangled).name != entity.name) continue;
      const std::string readable = elf::demangle(mangled);
      if (std::find(nearest.instead.begin(), nearest.instead.end(), readable) == nearest.instead.end())
        nearest.instead.push_back(readable);
      most = UINT32_MAX;
      nearest.library = static_cast<int>(i);
    }
    if (most == UINT32_MAX) break;  // the first library that has the entity itself
    const auto members = entity.scope_size > 1 ? index.scopes.find(scope) : index.scopes.end();
    if (members != index.scopes.end() && members->second > most) {
      most = members->second;
      nearest.library = static_cast<int>(i);
    }
  }
  return nearest;
}

}  // namespace compatrix::linker
