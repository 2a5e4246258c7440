// The nearest relative of a missing symbol: the same function with other parameters, or else the library that has the
// other members of its class. That is what tells a changed signature from a missing library.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "framework/elf/elf_file.h"

namespace compatrix::linker {

class Relatives {
 public:
  struct Nearest {
    int library = -1;                  // index into the libraries given, -1: none has anything like it
    std::vector<std::string> instead;  // demangled, at most eight, the nearest signature first
    std::string other_string_abi;      // demangled: the symbol itself, compiled with the other std::string ABI
  };
  // Looks in `libraries` (null entries are passed over).
  Nearest find(const std::string& symbol, std::span<const elf::ElfFile* const> libraries);

 private:
  // Hashes of the entities that a library defines, and how many it has of each scope.
  struct Index {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> entities;  // hash, symbol; sorted
    std::unordered_map<std::uint64_t, std::uint32_t> scopes;
  };
  const Index& index_of(const elf::ElfFile& library);

  std::unordered_map<const elf::ElfFile*, Index> indices_;
};

}  // namespace compatrix::linker
