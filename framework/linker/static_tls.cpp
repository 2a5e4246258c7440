#include "framework/linker/static_tls.h"

#include <algorithm>

namespace compatrix::linker {
namespace {

// With glibc's default tunables: the surplus, the share of it for optional places, the alignment of the thread control
// block, and what of that block lies at the beginning on AArch64.
constexpr std::uint64_t kSurplus = 1664, kOptional = 512, kControlAlignment = 64, kAarch64Control = 16;

std::uint64_t round_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

struct Block {
  std::uint64_t size, alignment, first_byte;
};

Block block_of(const elf::Segment& segment) {
  const std::uint64_t alignment = std::max<std::uint64_t>(segment.alignment, 1);
  return {segment.memory_size, alignment, segment.address % alignment};
}

}  // namespace

StaticTlsBlock::StaticTlsBlock(std::uint16_t elf_machine, const std::vector<const elf::Segment*>& segments)
    : above_(elf_machine == elf::EM_AARCH64), optional_(kOptional), alignment_(kControlAlignment) {
  used_ = above_ ? kAarch64Control : 0;
  for (const elf::Segment* segment : segments) {
    if (segment == nullptr) continue;
    const Block block = block_of(*segment);
    const std::uint64_t first = (block.alignment - block.first_byte) % block.alignment;
    alignment_ = std::max(alignment_, block.alignment);
    if (above_)
      used_ = round_up(used_ + first, block.alignment) - first + block.size;
    else
      used_ = round_up(std::max(used_ + block.size, first) - first, block.alignment) + first;
  }
  size_ = round_up(used_ + kSurplus, above_ ? kControlAlignment : alignment_);
}

bool StaticTlsBlock::place(const elf::Segment& segment, bool optional) {
  const Block block = block_of(segment);
  if (block.alignment > alignment_ || block.size > size_) return false;
  std::uint64_t use = 0;
  if (above_) {
    const std::uint64_t before = std::max(used_, block.first_byte) - block.first_byte;
    use = round_up(before, block.alignment) + block.first_byte + block.size - used_;
    if (used_ + use > size_) return false;
  } else {
    const std::uint64_t left = size_ - used_;
    if (left < block.size + block.first_byte) return false;
    const std::uint64_t unused = (left - block.size - block.first_byte) / block.alignment * block.alignment;
    use = left - unused - block.first_byte;
  }
  if (optional && use > optional_) return false;
  if (optional) optional_ -= use;
  used_ += use;
  return true;
}

}  // namespace compatrix::linker
