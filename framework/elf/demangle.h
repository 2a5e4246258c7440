// C++ symbol names (Itanium C++ ABI, chapter 5.1): made readable, and split into the entity and its parameters so
// that a missing function can be paired with its relatives of another signature.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace compatrix::elf {

// The readable form; the name itself where it is not a mangled one or longer than 4 KiB (demangling can take
// exponential space).
std::string demangle(const std::string& name);

// A readable name as it would be spelled if libstdc++ had one std::string ABI: without [abi:cxx11], and with the types
// of namespace std::__cxx11 in std (GCC manual, "Dual ABI" of libstdc++). Two names that differ before and are equal
// after are one function, compiled with different values of _GLIBCXX_USE_CXX11_ABI.
std::string without_string_abi(std::string readable);

// Which entity a mangled name is about, without its parameters and ABI tags.
struct Entity {
  // "_ZN3c104cuda29c10_cuda_check_implementation" of "…EiPKcS2_ib", less the "_Z" and the qualifiers. Constructors of
  // the kinds C1 and C2 count as one, so do destructors.
  std::string name;
  // The part of `name` that names the enclosing class or namespace; 0 for a global function.
  std::size_t scope_size = 0;

  [[nodiscard]] std::string_view scope() const { return std::string_view(name).substr(0, scope_size); }
};

// Empty where the name is not of that kind: plain C names, local entities, thunks.
Entity entity_of(std::string_view mangled);

}  // namespace compatrix::elf
