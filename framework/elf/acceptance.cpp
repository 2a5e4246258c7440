#include "framework/elf/acceptance.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "framework/elf/elf_file.h"

namespace compatrix::elf {
namespace {

constexpr std::uint64_t kHeaderSize = 64, kProgramHeaderSize = 56, kPageSize = 4096;
// Indices into e_ident, gABI figure 4-5.
constexpr std::uint64_t kClass = 4, kData = 5, kVersion = 6, kOsAbi = 7, kAbiVersion = 8, kPadding = 9, kIdentSize = 16;
constexpr std::uint8_t kClass64 = 2, kLittleEndian = 1, kCurrent = 1, kSystemV = 0, kGnu = 3;
constexpr std::uint8_t kAbiVersions = 4;  // LIBC_ABI_MAX of glibc 2.36: those below it are known

constexpr const char* kCannotRead = "cannot read file data";

// What open_verify says of e_ident, e_version; nullptr: nothing.
const char* refusal_of_ident(const ByteView& header, bool& other_class) {
  if (header.u32(0) != 0x464c457f) return "invalid ELF header";
  if (header.u8(kClass) != kClass64) {
    other_class = true;
    return nullptr;
  }
  if (header.u8(kData) != kLittleEndian) return "ELF file data encoding not little-endian";
  if (header.u8(kVersion) != kCurrent) return "ELF file version ident does not match current one";
  const std::uint8_t os = header.u8(kOsAbi), version = header.u8(kAbiVersion);
  if (os != kSystemV && os != kGnu) return "ELF file OS ABI invalid";
  if (version != 0 && !(os == kGnu && version < kAbiVersions)) return "ELF file ABI version invalid";
  for (std::uint64_t at = kPadding; at < kIdentSize; ++at)
    if (header.u8(at) != 0) return "nonzero padding in e_ident";
  if (header.u32(20) != kCurrent) return "ELF file version does not match current one";
  return nullptr;
}

struct ProgramHeader {
  std::uint32_t type;
  std::uint64_t offset, address, file_size;
};

// Nothing where they do not lie in the file.
std::optional<std::vector<ProgramHeader>> program_headers(const ByteSource& file, const ByteView& header) {
  const std::uint64_t at = header.u64(32), size = header.u16(56) * kProgramHeaderSize;
  if (at > file.size() || size > file.size() - at) return std::nullopt;
  const ByteView table = file.slice(at, size);
  std::vector<ProgramHeader> headers;
  for (std::uint64_t i = 0; i < size; i += kProgramHeaderSize)
    headers.push_back({.type = table.u32(i),
                       .offset = table.u64(i + 8),
                       .address = table.u64(i + 16),
                       .file_size = table.u64(i + 32)});
  return headers;
}

const char* refusal_to_map(std::uint16_t type, const std::vector<ProgramHeader>& headers) {
  std::size_t segments = 0;
  bool has_dynamic = false, dynamic_is_empty = false;
  for (const ProgramHeader& h : headers) {
    if (h.type == PT_DYNAMIC) (h.file_size == 0 ? dynamic_is_empty : has_dynamic) = true;
    if (h.type != PT_LOAD) continue;
    if ((h.address - h.offset) % kPageSize != 0) return "ELF load command address/offset not page-aligned";
    ++segments;
  }
  if (segments == 0) return "object file has no loadable segments";
  if (type != ET_DYN) return "cannot dynamically load executable";
  return !has_dynamic || dynamic_is_empty ? "object file has no dynamic section" : nullptr;
}

}  // namespace

Acceptance examine(const ByteSource& file) {
  Acceptance found;
  if (file.size() < kHeaderSize) {
    found.refusal = "file too short";
    return found;
  }
  const ByteView header = file.slice(0, kHeaderSize);
  if (const char* refusal = refusal_of_ident(header, found.other_class)) {
    found.refusal = refusal;
    return found;
  }
  if (found.other_class) return found;
  found.machine = header.u16(18);
  const std::uint16_t type = header.u16(16);
  if (type != ET_DYN && type != ET_EXEC) {
    found.refusal = "only ET_DYN and ET_EXEC can be loaded";
  } else if (header.u16(54) != kProgramHeaderSize) {
    found.refusal = "ELF file's phentsize not the expected size";
  } else if (const auto headers = program_headers(file, header); !headers) {
    found.refusal = kCannotRead;
  } else if (const char* refusal = refusal_to_map(type, *headers)) {
    found.mapping_refusal = refusal;
  }
  return found;
}

}  // namespace compatrix::elf
