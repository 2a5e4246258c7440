// A wheel of this machine as the resolver needs it: name and .dist-info folder alone. uv unpacks a local wheel to lock
// it, which for a kernel wheel is gigabytes written and longer than everything else takes.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "framework/base/result.h"
#include "framework/wheel/dist_info.h"

namespace compatrix::wheel {

struct StubWheel {
  std::filesystem::path wheel;  // the real one
  std::string sha256;           // of the real one
  std::filesystem::path stub;
  std::string stub_sha256;
  std::optional<Metadata> metadata;  // absent: can't be read, which uv says best
};

// Writes the stub of `wheel` into `folder`, under the same file name.
Result<StubWheel> write_stub_wheel(const std::filesystem::path& wheel, const std::string& sha256,
                                   const std::filesystem::path& folder);

// A lock that was made with the stub, with the real wheel in its place. An Error where the lock does not name the stub.
Result<std::string> name_real_wheel(const std::string& lock, const StubWheel& stub);

// The lock of these wheels and nothing else, where none of them requires another distribution: nothing is to be
// resolved, so neither uv nor an index is needed. Nothing where uv has to decide or to object.
std::optional<std::string> lock_of_independent(const std::vector<StubWheel>& stubs, const std::string& python);

}  // namespace compatrix::wheel
