#include "framework/environment/platform.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "framework/base/text.h"

namespace compatrix {
namespace {

struct Runtime {
  const char *name, *glibc, *glibcxx, *cxxabi, *gcc, *zlib;
  bool multiarch;  // Debian's folders
};

// glibc and GCC of each platform are those of its packages libc6/glibc, libstdc++6/libstdc++ and zlib (newest update);
// which symbol versions a GCC release defines is in GCC's libstdc++ manual, "ABI Policy and Guidelines", and in its
// libgcc-std.ver; manylinux_2_28 is the policy of PEP 600 as auditwheel has it: no more than AlmaLinux 8 with GCC 7's.
constexpr std::array kRuntimes{
    Runtime{"debian12", "2.36", "3.4.30", "1.3.13", "12.0.0", "1.2.12", true},
    Runtime{"ubuntu22.04", "2.35", "3.4.30", "1.3.13", "12.0.0", "1.2.9", true},
    Runtime{"ubuntu24.04", "2.39", "3.4.33", "1.3.15", "14.0.0", "1.2.12", true},
    Runtime{"rhel8", "2.28", "3.4.25", "1.3.11", "7.0.0", "1.2.9", false},
    Runtime{"rhel9", "2.34", "3.4.29", "1.3.13", "7.0.0", "1.2.9", false},
    Runtime{"manylinux_2_28", "2.28", "3.4.24", "1.3.11", "7.0.0", "1.2.9", false},
};
constexpr std::string_view kAarch64 = "-aarch64";

// The numbers of a dotted version; nothing where it is none.
std::optional<std::vector<int>> numbers_of(std::string_view version) {
  std::vector<int> numbers;
  for (const char* at = version.data(); at != version.data() + version.size();) {
    const auto [end, failure] = std::from_chars(at, version.data() + version.size(), numbers.emplace_back());
    if (failure != std::errc()) return std::nullopt;
    if (end == version.data() + version.size()) return numbers;
    if (*end != '.') return std::nullopt;
    at = end + 1;
  }
  return std::nullopt;
}

bool is_at_most(std::string_view version, std::string_view newest) {
  const auto asked = numbers_of(version), defined = numbers_of(newest);
  return asked && defined && *asked <= *defined;
}

}  // namespace

bool PlatformLibrary::defines(std::string_view version) const {
  return std::any_of(families.begin(), families.end(), [&](const VersionFamily& family) {
    if (!version.starts_with(family.prefix)) return false;
    const std::string_view number = version.substr(family.prefix.size());
    // The loader's promise to relocate DT_RELR tables came with glibc 2.36.
    if (number == "ABI_DT_RELR") return is_at_most("2.36", family.newest);
    if (number.empty() || std::isdigit(static_cast<unsigned char>(number.front())) == 0)
      return number == "PRIVATE" || number == "TM_1" || number == "FLOAT128";
    return is_at_most(number, family.newest);
  });
}

std::string Platform::summary() const {
  std::string text = "glibc " + glibc;
  for (const PlatformLibrary& library : libraries)
    if (library.soname == "libstdc++.so.6")
      for (const VersionFamily& family : library.families) text += fmt::format(", {}{}", family.prefix, family.newest);
  return text;
}

std::vector<std::string> known_platforms() {
  std::vector<std::string> names;
  for (const Runtime& runtime : kRuntimes) names.emplace_back(runtime.name);
  return names;
}

Result<Platform> platform_named(const std::string& name) {
  const bool aarch64 = name.ends_with(kAarch64);
  const std::string plain = aarch64 ? name.substr(0, name.size() - kAarch64.size()) : name;
  const auto* const known =
      std::find_if(kRuntimes.begin(), kRuntimes.end(), [&](const Runtime& runtime) { return plain == runtime.name; });
  if (known == kRuntimes.end()) {
    std::string names;
    for (const std::string& each : known_platforms()) names += (names.empty() ? "" : ", ") + each;
    return Error{name, fmt::format("is no platform that is known{}; known are {}, each also with {} at its end",
                                   suggestion(plain, known_platforms()), names, kAarch64)};
  }
  const std::string machine = aarch64 ? "aarch64" : "x86_64";
  Platform platform{.name = name,
                    .machine = machine,
                    .glibc = known->glibc,
                    .folder = known->multiarch ? fmt::format("/lib/{}-linux-gnu/", machine) : "/lib64/",
                    .libraries = {}};
  const std::vector<VersionFamily> glibc{{"GLIBC_", known->glibc}};
  for (const char* soname : {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libutil.so.1",
                             "libresolv.so.2", "libanl.so.1"})
    platform.libraries.push_back({soname, glibc});
  platform.libraries.push_back({aarch64 ? "ld-linux-aarch64.so.1" : "ld-linux-x86-64.so.2", glibc});
  platform.libraries.push_back({"libstdc++.so.6", {{"GLIBCXX_", known->glibcxx}, {"CXXABI_", known->cxxabi}}});
  platform.libraries.push_back({"libgcc_s.so.1", {{"GCC_", known->gcc}}});
  platform.libraries.push_back({"libz.so.1", {{"ZLIB_", known->zlib}}});
  return platform;
}

}  // namespace compatrix
