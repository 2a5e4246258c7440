#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "framework/elf/elf_file.h"

namespace compatrix::elf {
namespace {

constexpr std::uint64_t kHeaderSize = 64, kProgramHeaderSize = 56, kSymbolSize = 24, kRelaSize = 24, kPageSize = 4096;
constexpr std::uint32_t kMaximumVersions = 1U << 20;
constexpr std::uint32_t kMaximumEntries = 1U << 28;  // of any table: far beyond real files, far below memory

RawTables read_header(const ByteSource& file) {
  if (file.size() < 20)
    throw FormatError(0, fmt::format("file too short: an ELF header was expected, there are {} bytes", file.size()));
  const ByteView ident = file.slice(0, 20);
  if (ident.u32(0) != 0x464c457f) throw FormatError(0, "invalid ELF header: the file does not begin with \\x7fELF");
  RawTables tables;
  tables.file_size = file.size();
  tables.class64 = ident.u8(4) == 2 && ident.u8(5) == 1;
  tables.type = ident.u16(16);
  tables.machine = ident.u16(18);
  return tables;
}

void read_segments(const ByteSource& file, RawTables& tables) {
  const ByteView header = file.slice(0, kHeaderSize);
  const std::uint64_t at = header.u64(32);
  const std::uint16_t entry_size = header.u16(54), count = header.u16(56);
  if (count != 0 && entry_size != kProgramHeaderSize)
    throw FormatError(54,
                      fmt::format("program headers of {} bytes were expected, not {}", kProgramHeaderSize, entry_size));
  const ByteView headers = file.slice(at, count * kProgramHeaderSize);
  for (std::uint64_t i = 0; i < count; ++i) {
    const ByteView h = headers.slice(i * kProgramHeaderSize, kProgramHeaderSize);
    tables.segments.push_back({.type = h.u32(0),
                               .flags = h.u32(4),
                               .offset = h.u64(8),
                               .address = h.u64(16),
                               .file_size = h.u64(32),
                               .memory_size = h.u64(40),
                               .alignment = h.u64(48)});
  }
}

void read_dynamic(const ByteSource& file, RawTables& tables) {
  const auto dynamic = std::find_if(tables.segments.begin(), tables.segments.end(),
                                    [](const Segment& s) { return s.type == PT_DYNAMIC; });
  if (dynamic == tables.segments.end()) return;
  // What lies beyond the end of the file is zero, or is not there at all: dies_when_mapped.
  const std::uint64_t there = dynamic->offset < file.size() ? file.size() - dynamic->offset : 0;
  const ByteView bytes = file.slice(std::min(dynamic->offset, file.size()), std::min(dynamic->file_size, there));
  const auto word = [&](std::uint64_t at) {
    std::uint64_t value = 0;
    for (std::uint64_t i = 0; i < 8 && at + i < bytes.size(); ++i) value |= std::uint64_t{bytes.u8(at + i)} << 8 * i;
    return value;
  };
  for (std::uint64_t at = 0; at < bytes.size(); at += 16) {
    const DynamicEntry entry{word(at), word(at + 8)};
    if (entry.tag == 0) return;
    tables.dynamic.push_back(entry);
  }
}

std::optional<std::uint64_t> value_of(const RawTables& tables, std::uint64_t tag) {
  // The last entry of a tag counts, as in glibc's elf_get_dynamic_info.
  for (auto entry = tables.dynamic.rbegin(); entry != tables.dynamic.rend(); ++entry)
    if (entry->tag == tag) return entry->value;
  return std::nullopt;
}

// Addresses to file ranges, by the PT_LOAD segments.
class LoadedImage {
 public:
  LoadedImage(const ByteSource& file, const std::vector<Segment>& segments) : file_(file), segments_(segments) {}

  [[nodiscard]] std::uint64_t offset(std::uint64_t address) const { return locate(address).first; }
  // Bytes up to the end of the address's segment, as far as the file has them.
  [[nodiscard]] std::uint64_t left(std::uint64_t address) const {
    const auto [offset, left] = locate(address);
    return offset < file_.size() ? std::min(left, file_.size() - offset) : 0;
  }

  [[nodiscard]] ByteView at(std::uint64_t address, std::uint64_t size) const {
    const auto [offset, left] = locate(address);
    if (size > left)
      throw FormatError(offset,
                        fmt::format("a table of {} bytes at address {:#x} runs past its segment", size, address));
    return file_.slice(offset, size);
  }

 private:
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> locate(std::uint64_t address) const {
    for (const Segment& s : segments_)
      if (s.type == PT_LOAD && address >= s.address && address - s.address < s.file_size)
        return {s.offset + (address - s.address), s.file_size - (address - s.address)};
    throw FormatError(0, fmt::format("address {:#x} of the dynamic section lies in no loaded segment", address));
  }

  const ByteSource& file_;
  const std::vector<Segment>& segments_;
};

// The table's end is where the longest chain of the highest bucket ends (it has no length field).
ByteView read_gnu_hash(const LoadedImage& image, std::uint64_t address, std::uint32_t& symbols) {
  const ByteView head = image.at(address, 16);
  const std::uint32_t buckets = head.u32(0), first = head.u32(4), bloom = head.u32(8);
  if (buckets > kMaximumEntries || bloom > kMaximumEntries || first > kMaximumEntries)
    throw FormatError(head.file_offset(), "a .gnu.hash table of a plausible size was expected");
  const std::uint64_t fixed = 16 + std::uint64_t{bloom} * 8 + std::uint64_t{buckets} * 4;
  const ByteView table = image.at(address, fixed);
  std::uint32_t last = 0;
  for (std::uint64_t i = 0; i < buckets; ++i) last = std::max(last, table.u32(16 + std::uint64_t{bloom} * 8 + i * 4));
  symbols = std::max(symbols, first);
  if (last < first) return table;
  // Each chain ends with an entry whose lowest bit is set.
  for (std::uint64_t index = last;; ++index) {
    if (index > kMaximumEntries) throw FormatError(table.file_offset(), "a .gnu.hash chain with an end was expected");
    if (image.at(address + fixed + (index - first) * 4, 4).u32(0) & 1) {
      symbols = std::max(symbols, static_cast<std::uint32_t>(index) + 1);
      return image.at(address, fixed + (index + 1 - first) * 4);
    }
  }
}

ByteView read_sysv_hash(const LoadedImage& image, std::uint64_t address, std::uint32_t& symbols) {
  const ByteView head = image.at(address, 8);
  const std::uint32_t buckets = head.u32(0), chains = head.u32(4);
  if (buckets > kMaximumEntries || chains > kMaximumEntries)
    throw FormatError(head.file_offset(), "a .hash table of a plausible size was expected");
  symbols = std::max(symbols, chains);
  return image.at(address, 8 + (std::uint64_t{buckets} + chains) * 4);
}

// Version needs and definitions are chains of records linked by relative offsets; the extent is where they reach.
// `aux_at` is the position of the record's field that leads to its auxiliary records.
struct ChainLayout {
  std::uint64_t size, count_at, aux_at, next_at, aux_size, aux_next_at;
};
constexpr ChainLayout kVersionNeed{16, 2, 8, 12, 16, 12};
constexpr ChainLayout kVersionDefinition{20, 6, 12, 16, 8, 4};

ByteView read_chain(const LoadedImage& image, std::uint64_t address, std::uint64_t count, const ChainLayout& layout) {
  std::uint64_t end = 0, at = 0, auxiliaries = 0;
  if (count > kMaximumEntries)
    throw FormatError(image.offset(address), "a plausible number of version records was expected");
  for (std::uint64_t i = 0; i < count; ++i) {
    const ByteView record = image.at(address + at, layout.size);
    end = std::max(end, at + layout.size);
    std::uint64_t aux = at + record.u32(layout.aux_at);
    for (std::uint16_t left = record.u16(layout.count_at); left > 0; --left) {
      const ByteView auxiliary = image.at(address + aux, layout.aux_size);
      end = std::max(end, aux + layout.aux_size);
      // Records may share their chains; without a limit a small hostile file costs quadratic time.
      if (++auxiliaries > kMaximumVersions)
        throw FormatError(auxiliary.file_offset(),
                          fmt::format("at most {} version records were expected", kMaximumVersions));
      const std::uint32_t next = auxiliary.u32(layout.aux_next_at);
      if (next == 0) break;
      aux += next;
    }
    const std::uint32_t next = record.u32(layout.next_at);
    if (next == 0) break;
    at += next;
  }
  return image.at(address, end);
}

struct RelocationTypes {
  std::array<std::uint32_t, 4> without_symbol;  // NONE, RELATIVE, IRELATIVE, …
  std::array<std::uint32_t, 5> plt_class;       // JUMP_SLOT and TLS
  std::uint32_t copy, thread_offset, tls_descriptor;
};
// AMD64 psABI table 4.9 and AArch64 ELF psABI 5.7.
constexpr RelocationTypes kX86_64{{0, 8, 37, 38}, {7, 16, 17, 18, 36}, 5, 18, 36};
constexpr RelocationTypes kAarch64{{0, 1027, 1032, 1032}, {1026, 1028, 1029, 1030, 1031}, 1024, 1030, 1031};

template <class Array>
bool contains(const Array& array, std::uint32_t value) {
  return std::find(array.begin(), array.end(), value) != array.end();
}

// The object defines the symbol itself, or it is not looked up at all: no lookup of it can fail.
bool is_settled(const ByteView& dynsym, std::uint64_t index) {
  const std::uint64_t at = index * kSymbolSize;
  const std::uint8_t binding = dynsym.u8(at + 4) >> 4, visibility = dynsym.u8(at + 5) & 3;
  return dynsym.u16(at + 6) != SHN_UNDEF || binding == STB_LOCAL || visibility == STV_HIDDEN ||
         visibility == STV_INTERNAL;
}

class ReferenceCollector {
 public:
  // `dynsym`: at least the symbols that the hash tables count. They are asked in their order, since relocations name
  // them in none and a large file has a hundred thousand. `room`: how many symbols its segment has room for.
  ReferenceCollector(std::uint16_t machine, const ByteView& dynsym, std::uint64_t room)
      : types_(machine == EM_AARCH64 ? kAarch64 : kX86_64), room_(room), settled_(dynsym.size() / kSymbolSize) {
    for (std::size_t i = 0; i < settled_.size(); ++i) settled_[i] = is_settled(dynsym, i);
  }

  // `relative`: so many at the beginning name no symbol.
  void collect(const ByteView& table, std::uint64_t relative) {
    for (std::uint64_t at = relative * kRelaSize; at + kRelaSize <= table.size(); at += kRelaSize) {
      const std::uint64_t info = table.u64(at + 8);
      const auto type = static_cast<std::uint32_t>(info);
      const auto symbol = static_cast<std::uint32_t>(info >> 32);
      if (contains(types_.without_symbol, type)) continue;
      if (symbol != 0 && symbol >= room_)
        throw FormatError(table.file_offset() + at,
                          fmt::format("a relocation with a symbol below {} was expected, not {}", room_, symbol));
      const LookupClass lookup = contains(types_.plt_class, type) ? LookupClass::plt
                                 : type == types_.copy            ? LookupClass::copy
                                                                  : LookupClass::data;
      const StaticTls tls = type == types_.thread_offset    ? StaticTls::required
                            : type == types_.tls_descriptor ? StaticTls::preferred
                                                            : StaticTls::no;
      symbols = std::max(symbols, symbol + 1);
      const bool settled = symbol < settled_.size() && settled_[symbol] && tls == StaticTls::no;
      if (!settled) add({symbol, lookup, tls});
    }
  }

  std::vector<SymbolReference> references;
  std::uint32_t symbols = 0;  // one more than the highest index

 private:
  void add(SymbolReference reference) {
    if (reference.symbol >= seen_.size()) seen_.resize(reference.symbol + std::size_t{1});
    const auto kind = static_cast<unsigned>(reference.lookup) * 3 + static_cast<unsigned>(reference.static_tls);
    const auto bit = static_cast<std::uint16_t>(1U << kind);
    if (seen_[reference.symbol] & bit) return;
    seen_[reference.symbol] |= bit;
    references.push_back(reference);
  }

  RelocationTypes types_;
  std::uint64_t room_;
  std::vector<bool> settled_;
  std::vector<std::uint16_t> seen_;
};

void read_references(const LoadedImage& image, RawTables& tables, std::uint32_t& symbols) {
  const std::optional<std::uint64_t> symbol_table = value_of(tables, DT_SYMTAB);
  ReferenceCollector collector(tables.machine, tables.dynsym,
                               symbol_table ? image.left(*symbol_table) / kSymbolSize : 0);
  const std::optional<std::uint64_t> rela = value_of(tables, DT_RELA), plt = value_of(tables, DT_JMPREL);
  std::uint64_t rela_size = value_of(tables, DT_RELASZ).value_or(0);
  const std::uint64_t plt_size = value_of(tables, DT_PLTRELSZ).value_or(0);
  // Some linkers count the PLT's relocations in DT_RELASZ as well; glibc then takes them once.
  if (rela && plt && plt_size <= rela_size && *rela + rela_size == *plt + plt_size) rela_size -= plt_size;
  // glibc takes the first DT_RELACOUNT ones for relative without looking; in large libraries these are nearly all.
  const std::uint64_t relative = std::min(value_of(tables, DT_RELACOUNT).value_or(0), rela_size / kRelaSize);
  if (rela && rela_size != 0) collector.collect(image.at(*rela, rela_size), relative);
  if (plt && plt_size != 0) collector.collect(image.at(*plt, plt_size), 0);
  symbols = std::max(symbols, collector.symbols);
  tables.references = std::move(collector.references);
}

void read_build_id(const ByteSource& file, RawTables& tables) {
  constexpr std::uint32_t kNtGnuBuildId = 3;
  for (const Segment& segment : tables.segments) {
    if (segment.type != PT_NOTE || segment.file_size > 65536 || segment.offset > file.size() ||
        segment.file_size > file.size() - segment.offset)
      continue;
    const ByteView notes = file.slice(segment.offset, segment.file_size);
    for (std::uint64_t at = 0; at + 12 <= notes.size();) {
      const std::uint64_t name = notes.u32(at), size = notes.u32(at + 4);
      const std::uint64_t content = at + 12 + (name + 3) / 4 * 4;
      if (content + size > notes.size()) break;
      if (notes.u32(at + 8) == kNtGnuBuildId && name == 4 && notes.u32(at + 12) == 0x00554e47)
        for (std::uint64_t i = 0; i < size; ++i) tables.build_id += fmt::format("{:02x}", notes.u8(content + i));
      at = content + (size + 3) / 4 * 4;
    }
  }
}

// The one property note that the loader reads, 8-byte aligned (elf/dl-load.c, sysdeps/x86/dl-prop.h).
void read_properties(const ByteSource& file, RawTables& tables) {
  constexpr std::uint32_t kProperties = 5, kIsaNeeded = 0xc0008002;
  for (const Segment& segment : tables.segments) {
    if (segment.type != PT_GNU_PROPERTY || segment.alignment != 8 || segment.file_size > 65536 ||
        segment.offset > file.size() || segment.file_size > file.size() - segment.offset)
      continue;
    const ByteView note = file.slice(segment.offset, segment.file_size);
    if (note.size() < 16 || note.u32(0) != 4 || note.u32(8) != kProperties || note.u32(12) != 0x00554e47) continue;
    const std::uint64_t end = std::min<std::uint64_t>(note.size(), 16 + std::uint64_t{note.u32(4)});
    for (std::uint64_t at = 16; at + 8 <= end;) {
      const std::uint64_t size = note.u32(at + 4);
      if (at + 8 + size > end) break;
      if (note.u32(at) == kIsaNeeded && size == 4) tables.isa_needed = note.u32(at + 8);
      at += 8 + (size + 7) / 8 * 8;
    }
  }
}

}  // namespace

bool ends_early(const RawTables& tables) {
  return std::any_of(tables.segments.begin(), tables.segments.end(), [&](const Segment& s) {
    return s.type == PT_LOAD && s.file_size != 0 &&
           (s.offset > tables.file_size || s.file_size > tables.file_size - s.offset);
  });
}

std::uint64_t end_of_last_page(std::uint64_t file_size) {
  return (file_size + kPageSize - 1) / kPageSize * kPageSize;
}

bool dies_when_mapped(const RawTables& tables) {
  const std::uint64_t end = end_of_last_page(tables.file_size);
  // Names without a string table, and what glibc asserts of relocations (elf_get_dynamic_info).
  if (!tables.dynamic.empty() && !value_of(tables, DT_STRTAB)) return true;
  if (value_of(tables, DT_RELA) && value_of(tables, DT_RELAENT) != kRelaSize) return true;
  if (value_of(tables, DT_RELR) && value_of(tables, DT_RELRENT) != std::uint64_t{8}) return true;
  if (value_of(tables, DT_PLTREL).value_or(DT_RELA) != DT_RELA) return true;
  return std::any_of(tables.segments.begin(), tables.segments.end(), [&](const Segment& s) {
    switch (s.type) {
      case PT_DYNAMIC:
        return s.offset >= end || (tables.file_size == end && s.offset + s.file_size > end);
      case PT_NOTE:
      case PT_GNU_PROPERTY:
        return s.alignment == 8 && s.file_size != 0 && s.offset >= end;
      case PT_LOAD:  // the rest of the page behind the file's data is filled with zeros
        return s.memory_size > s.file_size && (s.address + s.file_size) % kPageSize != 0 &&
               s.offset + s.file_size >= end;
      default:
        return false;
    }
  });
}

std::vector<Segment> read_program_headers(const ByteSource& file) {
  RawTables tables = read_header(file);
  if (tables.class64) read_segments(file, tables);
  return std::move(tables.segments);
}

namespace {

void read_dynamic_tables(const ByteSource& file, RawTables& tables) {
  const LoadedImage image(file, tables.segments);
  std::uint32_t symbols = 0;
  if (const auto strings = value_of(tables, DT_STRTAB))
    tables.dynstr = image.at(*strings, value_of(tables, DT_STRSZ).value_or(image.left(*strings)));
  if (const auto hash = value_of(tables, DT_GNU_HASH)) tables.gnu_hash = read_gnu_hash(image, *hash, symbols);
  if (const auto hash = value_of(tables, DT_HASH)) tables.sysv_hash = read_sysv_hash(image, *hash, symbols);
  const auto symbol_table = value_of(tables, DT_SYMTAB);
  if (symbol_table) tables.dynsym = image.at(*symbol_table, symbols * kSymbolSize);
  read_references(image, tables, symbols);
  if (symbol_table) tables.dynsym = image.at(*symbol_table, symbols * kSymbolSize);
  if (const auto table = value_of(tables, DT_VERSYM)) tables.versym = image.at(*table, std::uint64_t{symbols} * 2);
  const std::uint64_t everything = kMaximumEntries;
  if (const auto needs = value_of(tables, DT_VERNEED))
    tables.verneed = read_chain(image, *needs, value_of(tables, DT_VERNEEDNUM).value_or(everything), kVersionNeed);
  if (const auto definitions = value_of(tables, DT_VERDEF))
    tables.verdef =
        read_chain(image, *definitions, value_of(tables, DT_VERDEFNUM).value_or(everything), kVersionDefinition);
}

}  // namespace

RawTables read_tables(const ByteSource& file) {
  RawTables tables = read_header(file);
  if (!tables.class64) return tables;
  read_segments(file, tables);
  if (dies_when_mapped(tables)) return tables;
  read_dynamic(file, tables);
  if (dies_when_mapped(tables)) return tables;
  const bool cut_off = ends_early(tables);
  read_build_id(file, tables);
  read_properties(file, tables);
  try {
    read_dynamic_tables(file, tables);
  } catch (const FormatError&) {
    // Of a file that is cut off the tables up to the missing one are there.
    if (!cut_off) throw;
  }
  return tables;
}

}  // namespace compatrix::elf
