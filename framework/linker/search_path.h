// Search paths as glibc reads them: dynamic string tokens, colons, empty elements, capability folders (elf/dl-load.c,
// elf/dl-hwcaps.c of glibc 2.36; ld.so(8)).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "framework/environment/environment.h"

namespace compatrix::linker {

// What `$LIB` and `$PLATFORM` stand for, and which folders below each folder of a search path are looked at first.
struct Capabilities {
  std::string lib;  // Debian's multiarch folder
  std::string platform;
  std::vector<std::string> subfolders;  // with a slash at the end; the last one is empty
};
Capabilities capabilities_of(std::uint16_t elf_machine, const Processor& processor);

// The text with its tokens replaced; nothing in it else is changed.
std::string expand_tokens(std::string_view text, const std::string& origin, const Capabilities& capabilities);

// The folders of a search path, each empty (the working folder) or with a slash at its end, no folder twice.
std::vector<std::string> split_search_path(std::string_view path, std::string_view separators,
                                           const std::string& origin, const Capabilities& capabilities);

}  // namespace compatrix::linker
