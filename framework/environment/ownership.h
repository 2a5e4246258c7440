// Whose bytes a file of the environment has, by the RECORDs of its distributions (PEP 376, PEP 627): two distributions
// may write one path, and what one uninstall took away the other's RECORD still lists.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "framework/environment/environment.h"
#include "framework/environment/wheel_library.h"

namespace compatrix {

struct FileClaim {
  std::size_t distribution = 0;  // position in the environment
  std::string sha256;            // by its RECORD, base64url without padding; empty where it has none
};

// A file that several distributions claim with different digests, or that an installed distribution's RECORD lists and
// the disk lacks. Byte-compiled modules, which anybody may delete, are left out.
struct DisputedFile {
  std::string path;               // below site-packages
  std::vector<FileClaim> claims;  // in the environment's order
  bool present = true;
  // The distribution whose digest the bytes on disk have; nothing where they are nobody's or no bytes are on disk.
  std::optional<std::size_t> bytes_of;
};

// Reads every RECORD; of the files themselves only those that are disputed. Sorted by path.
std::vector<DisputedFile> disputed_files(const Environment& environment, WheelLibrary& wheels);

}  // namespace compatrix
