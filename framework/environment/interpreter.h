// Interpreters on this machine: found without running a shell, told apart from wrapper scripts, and asked where their
// libraries lie.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "framework/base/result.h"
#include "framework/facts/store.h"

namespace compatrix {

// Where the parts of a CPython are.
struct InterpreterLayout {
  std::filesystem::path executable;     // the ELF file itself, links resolved
  std::string version;                  // "3.11"
  std::string machine;                  // "x86_64"
  std::filesystem::path site_packages;  // of the environment that the path belongs to
};

// Asks the interpreter (it is run once, isolated: -I -S is not used, since site-packages is asked for).
Result<InterpreterLayout> layout_of(const std::filesystem::path& python);

// An executable of that CPython minor version on this machine: python3.X on PATH (only real ELF executables count, for
// version managers put scripts there), else what uv knows of. Empty path: none.
std::filesystem::path find_interpreter(const std::string& version);

// What an interpreter exports is kept in the store, under this key and member, for machines that have none of its
// version.
inline constexpr const char* kInterpreterMember = "python";
std::string interpreter_facts_key(const std::string& version, const std::string& machine);
Result<Done> keep_interpreter_facts(const facts::FactStore& store, const std::filesystem::path& executable,
                                    const std::string& version, const std::string& machine);

// The interpreter's own extension modules, lib-dynload, for an executable as found above.
std::filesystem::path dynload_folder(const std::filesystem::path& executable, const std::string& version);

}  // namespace compatrix
