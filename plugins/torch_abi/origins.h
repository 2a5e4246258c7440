// Where what is missing comes from: the distribution or system package that would bring a library, and whose file it is
// that lacks a function, with the release that has it.
#pragma once

#include <string>
#include <string_view>

#include "cell.h"
#include "judgement.h"

namespace torch_abi {

// The distributions on the index that bring a library, separated by blanks; empty where none is known to.
std::string distribution_with(std::string_view soname);
// The package of Debian 12 that has it in the dynamic linker's default folders; empty where none has.
std::string debian_package_with(std::string_view soname);
// The first release of NCCL with this function; empty where none is known.
std::string nccl_release_with(std::string_view symbol);
// CUDA's libraries mark what a minor release added by a name that carries it: "__nvJitLinkComplete_12_4" is 12.4.
// Empty for other names.
std::string minor_release_in(std::string_view name);
// The major of CUDA that a library of it belongs to, of those that carry it: 12 for libcudart.so.12; empty for others.
std::string cuda_major_of(std::string_view soname);

// Gives each obstacle its origin. A library that RECORD lists as installed and the disk lacks becomes the fault of that
// file: nothing would have to be installed that isn't already.
void apply_origins(const Cell& cell, Judgement& judgement);

// Files that load, and with them a second major of CUDA: two runtimes in one process. Reported as a finding.
void report_two_majors(const Cell& cell, Judgement& judgement, const std::string& torch);

}  // namespace torch_abi
