// What came of one simulated dlopen: every obstacle, in the order in which glibc would meet them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace compatrix::linker {

enum class ProblemKind {
  library_not_found,
  bad_file,           // the loader refuses the file, or dies of it
  version_not_found,  // a symbol version that its provider does not define
  undefined_symbol,
  isa_level,   // built for a higher micro-architecture level than the processor's
  static_tls,  // its thread-local memory no longer fits into the static TLS block
};
std::string_view word(ProblemKind kind);

struct Problem {
  ProblemKind kind = ProblemKind::undefined_symbol;
  std::string object;   // the object that has it; relative to site-packages where it lies below
  std::string library;  // needed name that was not found, or soname of the version need
  std::string symbol;   // mangled
  std::string demangled;
  std::string version;      // symbol version asked for
  std::string expected_in;  // soname of the library that has the nearest relative, or that the version need names
  std::vector<std::string> instead;   // demangled: the same entity with other parameters, the nearest first
  std::string other_string_abi;       // demangled: the same function, compiled with the other std::string ABI
  std::vector<std::string> searched;  // "rule: path", in order
  std::string message;                // in glibc's own wording
};

enum class Outcome {
  loads,  // every library, version and symbol is there
  fails,  // dlopen returns an error
  kills,  // the process dies inside dlopen
};

struct LoadReport {
  Outcome outcome = Outcome::loads;
  std::string message;  // of the first problem
  std::vector<Problem> problems;
  std::vector<std::string> from_system;  // files of this machine that it rests on
  std::vector<std::string> assumed;      // sonames of assumed libraries that it rests on
};

}  // namespace compatrix::linker
