// This machine's ld.so.cache: which library a plain soname leads to (glibc's cache format 1.1;
// sysdeps/generic/dl-cache.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "framework/base/result.h"
#include "framework/bytes/byte_view.h"

namespace compatrix {

// Soname to absolute path, for one machine; the first entry of a name counts, entries for hardware capabilities are
// left out. Throws FormatError.
std::map<std::string, std::string, std::less<>> parse_loader_cache(const ByteView& bytes, std::uint16_t elf_machine);

// The same from the file; empty where there is none.
std::map<std::string, std::string, std::less<>> read_loader_cache(const std::filesystem::path& file,
                                                                  std::uint16_t elf_machine);

}  // namespace compatrix
