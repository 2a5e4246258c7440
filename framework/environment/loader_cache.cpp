#include "framework/environment/loader_cache.h"

#include "framework/bytes/mapped_file.h"
#include "framework/elf/elf_file.h"

namespace compatrix {
namespace {

constexpr std::string_view kMagic = "glibc-ld.so.cache1.1";
constexpr std::uint64_t kHeaderSize = 48, kEntrySize = 24;
// Flags of an entry: a libc6 ELF library of this machine.
constexpr std::uint32_t kX86_64Libc6 = 0x0303, kAarch64Libc6 = 0x0a03;

}  // namespace

std::map<std::string, std::string, std::less<>> parse_loader_cache(const ByteView& bytes, std::uint16_t elf_machine) {
  if (!bytes.text().starts_with(kMagic)) throw FormatError(0, "an ld.so.cache of format 1.1 was expected");
  const std::uint32_t flags = elf_machine == elf::EM_AARCH64 ? kAarch64Libc6 : kX86_64Libc6;
  const std::uint32_t count = bytes.u32(20);
  std::map<std::string, std::string, std::less<>> paths;
  for (std::uint64_t i = 0; i < count; ++i) {
    const ByteView entry = bytes.slice(kHeaderSize + i * kEntrySize, kEntrySize);
    const bool for_hardware_capability = entry.u64(16) != 0;
    if (entry.u32(0) != flags || for_hardware_capability) continue;
    paths.emplace(bytes.c_string(entry.u32(4)), bytes.c_string(entry.u32(8)));
  }
  return paths;
}

std::map<std::string, std::string, std::less<>> read_loader_cache(const std::filesystem::path& file,
                                                                  std::uint16_t elf_machine) {
  const auto mapped = MappedFile::open(file);
  if (!mapped) return {};
  try {
    return parse_loader_cache((*mapped)->slice(0, (*mapped)->size()), elf_machine);
  } catch (const FormatError&) {
    return {};  // glibc too goes on without a cache that it can't read
  }
}

}  // namespace compatrix
