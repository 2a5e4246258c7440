// What resolved symbols do not show: whether a file was compiled against the layout of another torch's objects. Told
// from the torch that the file was built with (assertions.h), from data objects that file and torch both define with
// other sizes, and from METADATA's pin where the file itself says nothing.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "assertions.h"
#include "cell.h"

namespace torch_abi {

// A data object that the file has its own copy of, for instance a vtable, and torch too.
struct SizeDifference {
  std::string symbol;     // mangled
  std::uint64_t in_file;  // bytes
  std::uint64_t in_torch;
  std::string library;  // of torch, that defines it
};

enum class LayoutVerdict {
  same,         // built with a torch of this minor, or without any C++ of torch
  unknown,      // uses torch's C++ interface, and nothing tells which torch it was built with
  risk,         // built with another minor of torch
  initialiser,  // the same across a border at which static initialisers are known to die
};

struct FileLayout {
  LayoutVerdict verdict = LayoutVerdict::same;
  BuildTorch build;
  std::vector<SizeDifference> differences;
  std::string border;  // the border crossed, in words, for `initialiser`
};

// Whether a mangled name is of torch's C++ interface, which has no stable layout; torch::stable and torch::headeronly
// are inline code over the C shim, whose layout is kept.
bool is_torch_cpp_symbol(std::string_view mangled);
// Whether a file that asks for this symbol registers operators, which its static initialisers do.
bool is_registration_symbol(std::string_view mangled);

// The verdict for one file from what is known of it; `torch` is the cell's release.
struct FileTraits {
  bool uses_cpp = false, registers_operators = false;
  BuildTorch build;    // of its wheel as a whole, or its own where the two contradict
  std::string pinned;  // minor of torch that METADATA pins, or empty
  bool sizes_differ = false;
};
LayoutVerdict verdict_for(const FileTraits& traits, std::string_view torch, std::string* border);

// Looks at every file of one distribution. Throws FactsUnavailable.
std::map<std::string, FileLayout> examine_layout(const Cell& cell, std::size_t distribution,
                                                 const std::vector<std::string>& files);

}  // namespace torch_abi
