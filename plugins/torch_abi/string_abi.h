// One cause of its own among missing functions of torch: libstdc++ has two std::string types, an old and a new one
// (GCC manual, "Dual ABI"), chosen with _GLIBCXX_USE_CXX11_ABI at compile time. Up to 2.6 most of torch's wheels had
// the old one, since 2.7 all have the new one. A file compiled with the other finds none of the functions that take or
// return strings.
#pragma once

#include <string>
#include <vector>

#include "judgement.h"

namespace torch_abi {

struct StringAbi {
  std::size_t missing = 0;             // functions of torch that counted files miss
  std::vector<const Obstacle*> other;  // those of them that this torch has with the other std::string
  bool torch_has_new = false;

  [[nodiscard]] const char* of_torch() const { return torch_has_new ? "new" : "old"; }
  [[nodiscard]] const char* of_files() const { return torch_has_new ? "old" : "new"; }
};
StringAbi string_abi_of(const Judgement& judgement);

// Says nothing where no function differs so.
void report_string_abi(const Cell& cell, const Judgement& judgement);

}  // namespace torch_abi
