#include "framework/environment/platform.h"

#include <algorithm>

#include <catch2/catch_all.hpp>

using namespace compatrix;

namespace {
bool defines(const std::string& platform, const std::string& soname, const std::string& version) {
  const auto known = platform_named(platform);
  REQUIRE(known);
  for (const PlatformLibrary& library : known->libraries)
    if (library.soname == soname) return library.defines(version);
  return false;
}
}  // namespace

TEST_CASE("a platform's runtimes define what its releases of glibc and GCC do, and nothing newer", "[platform]") {
  CHECK(defines("rhel8", "libc.so.6", "GLIBC_2.2.5"));
  CHECK(defines("rhel8", "libc.so.6", "GLIBC_2.28"));
  CHECK_FALSE(defines("rhel8", "libc.so.6", "GLIBC_2.29"));
  CHECK_FALSE(defines("rhel8", "libc.so.6", "GLIBC_ABI_DT_RELR"));
  CHECK(defines("debian12", "libc.so.6", "GLIBC_ABI_DT_RELR"));
  CHECK(defines("ubuntu24.04", "libstdc++.so.6", "GLIBCXX_3.4.33"));
  CHECK_FALSE(defines("ubuntu22.04", "libstdc++.so.6", "GLIBCXX_3.4.31"));
  CHECK(defines("rhel9", "libstdc++.so.6", "CXXABI_TM_1"));
  CHECK_FALSE(defines("manylinux_2_28", "libstdc++.so.6", "GLIBCXX_3.4.25"));
  CHECK(defines("rhel9-aarch64", "ld-linux-aarch64.so.1", "GLIBC_2.17"));
}

TEST_CASE("a version that is no number, or another library's, is not defined", "[platform]") {
  for (const char* version : {"GLIBC_", "GLIBC_2.", "GLIBC_2.x", "GLIBC_2.99999999999999999999", "FOO_1", ""})
    CHECK_FALSE(defines("ubuntu24.04", "libc.so.6", version));
  CHECK_FALSE(defines("ubuntu24.04", "libc.so.6", "GLIBCXX_3.4"));
}

TEST_CASE("an unknown platform is refused with the near name", "[platform]") {
  const auto unknown = platform_named("ubuntu24.4");
  REQUIRE_FALSE(unknown);
  CHECK_THAT(unknown.error().text(), Catch::Matchers::ContainsSubstring("ubuntu24.04"));
  CHECK(platform_named("debian12-aarch64")->machine == "aarch64");
  CHECK(platform_named("debian12")->summary() == "glibc 2.36, GLIBCXX_3.4.30, CXXABI_1.3.13");
}
