// Locks: what a cell's requirements resolve to, as pylock.toml (PEP 751), made by uv and kept as it was made.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "framework/base/result.h"

namespace compatrix::wheel {

// One wheel that a lock names.
struct LockedWheel {
  std::string project;  // normalised
  std::string version;
  std::string file_name;
  std::string url;             // http(s) address, or empty
  std::filesystem::path path;  // local file, absolute, or empty
  std::uint64_t size = 0;      // 0 where the lock does not say
  std::string sha256;          // hexadecimal; empty where the lock does not say
};

struct Lock {
  std::vector<LockedWheel> wheels;  // one for each project: the best that suits the target
};

// What is locked for: a CPython minor version on Linux with glibc.
struct LockTarget {
  std::string python = "3.11";
  std::string machine = "x86_64";
  std::string glibc = "2.36";  // newest that the platform has
  std::string platform;        // its name, where one is declared
};

// Chooses for each package the wheel with the best tag for the target (PEP 425 order). A package without any suitable
// wheel (sdist only) is an Error that names it. `base` is what relative paths start from.
Result<Lock> read_lock(const std::filesystem::path& file, const LockTarget& target);

struct LockRequest {
  std::vector<std::string> requirements;  // PEP 508 texts, or absolute paths of wheels
  std::vector<std::filesystem::path> find_links;
  std::optional<std::string> index;  // a further index's address, asked before the configured one
  bool without_dependencies = false;
  std::map<std::string, std::string> digests;  // sha256 of wheels among the requirements, where they are known already
  LockTarget target;
};

// Whether a requirement is the path of a wheel, and not a PEP 508 text.
bool is_local_wheel(const std::string& requirement);

// Asks uv to lock the requests and writes `file` (aside, then renamed). The requirements themselves override what any
// distribution demands of the same projects, so that a pair can be examined although its metadata forbids it. The index
// is the one that uv or pip is configured with. Takes what an error of uv says and makes one sentence of it.
Result<Done> write_lock(const LockRequest& request, const std::filesystem::path& file);

// The uv program: $COMPATRIX_UV, beside the executable's tools folder, or on PATH.
Result<std::filesystem::path> find_uv();

}  // namespace compatrix::wheel
