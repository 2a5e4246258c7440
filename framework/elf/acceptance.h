// What glibc's dynamic linker (2.36) makes of a file before it maps it: passes over it, refuses it, or goes on. Decided
// from ELF header, program headers and file size alone (elf/dl-load.c: open_verify, _dl_map_object_from_fd).
#pragma once

#include <cstdint>
#include <string>

#include "framework/bytes/byte_view.h"

namespace compatrix::elf {

struct Acceptance {
  bool other_class = false;   // ELFCLASS32: the search passes over it
  std::uint16_t machine = 0;  // e_machine; 0 where the file is refused before the loader looks at it
  std::string refusal;  // in glibc's words, after the path: why the search ends here; of a file of the right machine
  std::string mapping_refusal;  // the same, after the name that was asked for, once the file was chosen

  [[nodiscard]] bool is_passed_over(std::uint16_t wanted_machine) const {
    return other_class || (machine != 0 && machine != wanted_machine);
  }
};

// Never throws for what the loader itself would notice.
Acceptance examine(const ByteSource& file);

}  // namespace compatrix::elf
