// The static TLS block of a process: sized when it starts, with a surplus for libraries that come by dlopen and whose
// code has fixed offsets into it (elf/dl-tls.c, elf/dl-reloc.c of glibc 2.36).
#pragma once

#include <cstdint>
#include <vector>

#include "framework/elf/elf_file.h"

namespace compatrix::linker {

class StaticTlsBlock {
 public:
  StaticTlsBlock() = default;
  // The block of a process that starts with these thread-local segments, in the order of the link map; null: none.
  StaticTlsBlock(std::uint16_t elf_machine, const std::vector<const elf::Segment*>& segments);

  // Finds a place for one more segment. `optional` is for code that would do without, which has a smaller share.
  bool place(const elf::Segment& segment, bool optional);

 private:
  bool above_ = false;  // the blocks lie above the thread pointer (AArch64), not below (x86-64)
  std::uint64_t size_ = 0, used_ = 0, optional_ = 0, alignment_ = 0;
};

}  // namespace compatrix::linker
