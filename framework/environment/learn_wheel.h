// What is learnt of a wheel when it is met: from a remote one its file list and .dist-info texts, a few kilobytes; a
// local one is read whole and every byte held against CRC and RECORD.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "framework/base/result.h"
#include "framework/bytes/random_access.h"
#include "framework/facts/wheel_facts.h"

namespace compatrix {

// The file list and the texts, kept under `key`.
Result<facts::WheelFacts> read_wheel_facts(RandomAccess& archive, const std::string& file_name, const std::string& key);

struct LocalWheel {
  facts::WheelFacts facts;  // under the archive's own sha256
  // Name and stored facts of each member that is an ELF file.
  std::vector<std::pair<std::string, std::string>> libraries;
};
Result<LocalWheel> read_local_wheel(RandomAccess& archive, const std::string& file_name);

}  // namespace compatrix
