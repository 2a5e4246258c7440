// The texts of a wheel's .dist-info folder: METADATA (core metadata 2.x), WHEEL and RECORD (PEP 427, PEP 376),
// and the compatibility tags of file names (PEP 425, PEP 600).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/result.h"

namespace compatrix::wheel {

// PEP 503: lower case, runs of "-_." become "-".
std::string normalise_project(std::string_view name);

// One python-abi-platform triple, such as cp310-abi3-manylinux2014_x86_64.
struct Tag {
  std::string python, abi, platform;
  [[nodiscard]] std::string text() const;
  auto operator<=>(const Tag&) const = default;
};

// name-version(-build)?-python-abi-platform.whl, tag sets expanded.
struct WheelName {
  std::string project;  // as written
  std::string version;
  std::string build;
  std::vector<Tag> tags;
};
Result<WheelName> parse_wheel_name(std::string_view file_name);

// The glibc that a platform tag promises: manylinux_2_28 → 2.28, manylinux2014 → 2.17; none for others (PEP 600).
std::optional<std::string> promised_glibc(std::string_view platform_tag);

// PEP 508 "name[extra] (specifiers); marker" or "name @ url".
struct Requirement {
  std::string project;  // normalised
  std::vector<std::string> extras;
  std::string specifiers;  // text of a SpecifierSet
  std::string url;
  std::string marker;
};
Result<Requirement> parse_requirement(std::string_view text);

struct Metadata {
  std::string name, version;
  std::vector<std::string> requires_dist;  // as written
  std::string requires_python;
};
Result<Metadata> parse_metadata(std::string_view text);

struct WheelInfo {
  std::string wheel_version;
  bool root_is_purelib = false;
  std::vector<std::string> tags;  // as written
};
Result<WheelInfo> parse_wheel_info(std::string_view text);

struct RecordEntry {
  std::string path;
  std::string sha256;  // base64url without padding; empty where the line has none
  std::optional<std::uint64_t> size;
};
Result<std::vector<RecordEntry>> parse_record(std::string_view text);

// Where an installer puts an entry of the archive, relative to site-packages (PEP 427, "Installing a wheel"): purelib
// and platlib of the .data folder are laid over it. Nothing for folders and for the parts that go elsewhere.
std::optional<std::string> installed_path(std::string_view entry);

// Whether a file is a shared object by its name: "libx.so", "libx.so.1.2", "module.cpython-311-x86_64-linux-gnu.so".
bool is_shared_object_name(std::string_view path);

}  // namespace compatrix::wheel
