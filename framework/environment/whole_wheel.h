// A local archive, read whole in one pass by all cores: every member inflated and held against its size, CRC and RECORD
// digest, the archive's own digest taken, and the facts of its libraries kept, in memory that does not grow with the
// archive.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "framework/base/result.h"
#include "framework/bytes/random_access.h"
#include "framework/wheel/zip.h"

namespace compatrix {

struct WholeWheel {
  std::string sha256;  // of the archive, hexadecimal
  // Members that can't be read or are not what RECORD says, in the order of the directory.
  std::vector<wheel::ZipDefect> defects;
  // Name and stored facts (library_facts.h) of each member that is an ELF file and could be read.
  std::vector<std::pair<std::string, std::string>> libraries;
};

// `record` is the text of the wheel's RECORD. The Error is one of reading the file; what is wrong with members is a
// defect.
Result<WholeWheel> read_whole_wheel(RandomAccess& archive, const wheel::ZipDirectory& directory,
                                    const std::string& record);

}  // namespace compatrix
