// Platforms that a cell may declare instead of this machine: what their C and C++ runtimes define, so that files are
// judged for a system that is not here, and for another machine's processor.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "framework/base/result.h"

namespace compatrix {

// Symbol versions of one kind that a library defines: all up to the newest.
struct VersionFamily {
  std::string prefix;  // "GLIBC_"
  std::string newest;  // "2.28"
};

struct PlatformLibrary {
  std::string soname;
  std::vector<VersionFamily> families;

  // Whether it defines the version; those without a number (GLIBC_PRIVATE, CXXABI_TM_1) are in every release.
  [[nodiscard]] bool defines(std::string_view version) const;
};

struct Platform {
  std::string name;     // as declared: "rhel8", "rhel8-aarch64"
  std::string machine;  // "x86_64", "aarch64"
  std::string glibc;    // "2.28"
  std::string folder;   // where its libraries lie, with a slash at the end
  std::vector<PlatformLibrary> libraries;

  // "glibc 2.28, GLIBCXX_3.4.25, CXXABI_1.3.11": what it has, for people.
  [[nodiscard]] std::string summary() const;
};

// The names that can be declared; each stands for x86_64, and with "-aarch64" behind it for that machine.
std::vector<std::string> known_platforms();

// The Error names those that are known.
Result<Platform> platform_named(const std::string& name);

}  // namespace compatrix
