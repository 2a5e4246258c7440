#include "framework/elf/elf_file.h"

#include <algorithm>

#include <fmt/format.h>

namespace compatrix::elf {
namespace {

constexpr std::uint64_t kSymbolSize = 24;

std::uint32_t sysv_hash(std::string_view name) {
  std::uint32_t hash = 0;
  for (const char c : name) {
    hash = (hash << 4) + static_cast<unsigned char>(c);
    const std::uint32_t high = hash & 0xf0000000;
    hash ^= high >> 24;
    hash &= ~high;
  }
  return hash;
}

}  // namespace

std::uint32_t gnu_hash(std::string_view name) {
  std::uint32_t hash = 5381;
  for (const char c : name) hash = hash * 33 + static_cast<unsigned char>(c);
  return hash;
}

ElfFile::ElfFile(RawTables tables, std::shared_ptr<const void> backing)
    : tables_(std::move(tables)), backing_(std::move(backing)) {
  symbol_count_ = static_cast<std::uint32_t>(tables_.dynsym.size() / kSymbolSize);
  truncated_ = ends_early(tables_);
  decode_dynamic();
  decode_version_needs();
  decode_version_definitions();
  prepare_hash_table();
}

void ElfFile::decode_dynamic() {
  if (tables_.dynstr.empty() && dies_when_mapped(tables_)) return;  // no name in it can be read
  for (const DynamicEntry& entry : tables_.dynamic) {
    switch (entry.tag) {
      case DT_NEEDED:
        needed_.push_back(string(entry.value));
        break;
      case DT_SONAME:
        soname_ = string(entry.value);
        break;
      case DT_RPATH:
        rpath_ = string(entry.value);
        break;
      case DT_RUNPATH:
        runpath_ = string(entry.value);
        break;
      case DT_SYMBOLIC:
        symbolic_ = true;
        break;
      case DT_FLAGS:
        symbolic_ |= (entry.value & DF_SYMBOLIC) != 0;
        break;
      case DT_FLAGS_1:
        flags_1_ = entry.value;
        break;
      case DT_RELR:
        has_relative_relocation_table_ = true;
        break;
      default:
        break;
    }
  }
  if (runpath_) rpath_.reset();  // an object with a runpath has no rpath (ld.so(8))
}

const Segment* ElfFile::thread_local_segment() const {
  for (const Segment& segment : tables_.segments)
    if (segment.type == PT_TLS && segment.memory_size != 0) return &segment;
  return nullptr;
}

bool ElfFile::dies_when_relocated() const {
  constexpr std::uint32_t kWritable = 2;  // PF_W
  if (!truncated_) return false;
  return tables_.dynstr.empty() || tables_.dynsym.empty() ||
         std::any_of(tables_.segments.begin(), tables_.segments.end(), [&](const Segment& s) {
           return s.type == PT_LOAD && (s.flags & kWritable) != 0 && s.file_size != 0 &&
                  s.offset + s.file_size > end_of_last_page(tables_.file_size);
         });
}

void ElfFile::decode_version_needs() {
  const ByteView& table = tables_.verneed;
  for (std::uint64_t at = 0; at < table.size();) {
    VersionNeed need{.file = string(table.u32(at + 4)), .versions = {}};
    std::uint64_t aux = at + table.u32(at + 8);
    for (std::uint16_t left = table.u16(at + 2); left > 0; --left) {
      const std::uint16_t index = table.u16(aux + 6);
      need.versions.push_back({.name = string(table.u32(aux + 8)),
                               .index = static_cast<std::uint16_t>(index & 0x7fff),
                               .hidden = (index & 0x8000) != 0,
                               .weak = (table.u16(aux + 4) & 2) != 0});
      const std::uint32_t next = table.u32(aux + 12);
      if (next == 0) break;
      aux += next;
    }
    version_needs_.push_back(std::move(need));
    const std::uint32_t next = table.u32(at + 12);
    if (next == 0) break;
    at += next;
  }
  for (const VersionNeed& need : version_needs_)
    for (const VersionRequirement& version : need.versions)
      set_version(version.index, {.name = version.name, .file = need.file, .hidden = version.hidden});
}

void ElfFile::set_version(std::uint16_t index, SymbolVersion version) {
  if (index >= version_places_.size()) version_places_.resize(index + std::size_t{1});
  std::uint16_t& place = version_places_[index];
  if (place != 0) {
    versions_[place - std::size_t{1}] = version;
    return;
  }
  versions_.push_back(version);
  place = static_cast<std::uint16_t>(versions_.size());  // indices have 15 bits
}

void ElfFile::decode_version_definitions() {
  const ByteView& table = tables_.verdef;
  has_version_definitions_ = !table.empty();
  for (std::uint64_t at = 0; at < table.size();) {
    const std::uint64_t aux = at + table.u32(at + 12);
    const VersionDefinition definition{.name = string(table.u32(aux)),
                                       .index = static_cast<std::uint16_t>(table.u16(at + 4) & 0x7fff),
                                       .base = (table.u16(at + 2) & 1) != 0};
    version_definitions_.push_back(definition);
    if (!definition.base) set_version(definition.index, {.name = definition.name, .file = {}, .hidden = false});
    const std::uint32_t next = table.u32(at + 16);
    if (next == 0) break;
    at += next;
  }
}

void ElfFile::prepare_hash_table() {
  const ByteView& table = tables_.gnu_hash;
  if (table.empty()) return;
  bucket_count_ = table.u32(0);
  first_hashed_ = table.u32(4);
  bloom_words_ = table.u32(8);
  bloom_shift_ = table.u32(12);
  if (bloom_words_ == 0 || (bloom_words_ & (bloom_words_ - 1)) != 0)
    throw FormatError(table.file_offset() + 8,
                      fmt::format("a power of two of Bloom filter words was expected, not {}", bloom_words_));
  bloom_ = table.slice(16, std::uint64_t{bloom_words_} * 8);
  buckets_at_ = 16 + std::uint64_t{bloom_words_} * 8;
  chains_at_ = buckets_at_ + std::uint64_t{bucket_count_} * 4;
}

Symbol ElfFile::symbol(std::uint32_t index) const {
  const ByteView entry = tables_.dynsym.slice(std::uint64_t{index} * kSymbolSize, kSymbolSize);
  const std::uint8_t kind = entry.u8(4);
  return {.binding = static_cast<std::uint8_t>(kind >> 4),
          .type = static_cast<std::uint8_t>(kind & 15),
          .visibility = static_cast<std::uint8_t>(entry.u8(5) & 3),
          .section = entry.u16(6),
          .value = entry.u64(8),
          .size = entry.u64(16)};
}

std::string_view ElfFile::symbol_name(std::uint32_t index) const {
  const std::string_view strings = tables_.dynstr.text();
  const std::uint64_t at = tables_.dynsym.u32(std::uint64_t{index} * kSymbolSize);
  const std::size_t end = at < strings.size() ? strings.find('\0', at) : std::string_view::npos;
  return end == std::string_view::npos ? std::string_view{} : strings.substr(at, end - at);
}

bool ElfFile::is_named(std::uint32_t index, std::string_view name) const {
  const std::string_view strings = tables_.dynstr.text();
  const std::uint64_t at = tables_.dynsym.u32(std::uint64_t{index} * kSymbolSize);
  return at < strings.size() && name.size() < strings.size() - at && strings.substr(at, name.size()) == name &&
         strings[at + name.size()] == '\0';
}

std::optional<std::uint16_t> ElfFile::version_index(std::uint32_t symbol) const {
  if (tables_.versym.empty()) return std::nullopt;
  return tables_.versym.u16(std::uint64_t{symbol} * 2);
}

SymbolVersion ElfFile::version(std::uint16_t index) const {
  const std::uint16_t plain = index & 0x7fff;
  const std::size_t place = plain < version_places_.size() ? version_places_[plain] : 0;
  return place == 0 ? SymbolVersion{} : versions_[place - 1];
}

void ElfFile::find(std::string_view name, std::uint32_t hash, std::vector<std::uint32_t>& found) const {
  found.clear();
  const ByteView& table = tables_.gnu_hash;
  if (table.empty()) return find_by_sysv_hash(name, found);
  if (bucket_count_ == 0 || excludes(hash)) return;
  const std::uint32_t bucket = table.u32(buckets_at_ + std::uint64_t{hash % bucket_count_} * 4);
  if (bucket < first_hashed_ || bucket == 0) return;
  for (std::uint32_t index = bucket;; ++index) {
    const std::uint32_t chain = table.u32(chains_at_ + std::uint64_t{index - first_hashed_} * 4);
    if (((chain ^ hash) >> 1) == 0 && is_named(index, name)) found.push_back(index);
    if (chain & 1) return;
  }
}

void ElfFile::find_by_sysv_hash(std::string_view name, std::vector<std::uint32_t>& found) const {
  const ByteView& table = tables_.sysv_hash;
  if (table.empty()) return;
  const std::uint32_t buckets = table.u32(0);
  if (buckets == 0) return;
  // No chain is longer than the table, whatever its head claims.
  const std::uint64_t most_steps = table.size() / 4;
  std::uint32_t index = table.u32(8 + std::uint64_t{sysv_hash(name) % buckets} * 4);
  for (std::uint64_t steps = 0; index != 0; ++steps) {
    if (steps > most_steps) throw FormatError(table.file_offset(), "a .hash chain with an end was expected");
    if (is_named(index, name)) found.push_back(index);
    index = table.u32(8 + (std::uint64_t{buckets} + index) * 4);
  }
}

Result<std::shared_ptr<const ElfFile>> read_elf(const std::string& name, std::shared_ptr<const ByteSource> file) try {
  RawTables tables = read_tables(*file);
  return std::shared_ptr<const ElfFile>(std::make_shared<ElfFile>(std::move(tables), std::move(file)));
} catch (const FormatError& defect) {
  return Error{name, defect.what()};
}

}  // namespace compatrix::elf
