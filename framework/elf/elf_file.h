// What the dynamic linker sees of an ELF file: dynamic section, dynamic symbols and their versions, the relocations
// that name symbols. Found by program headers and DT_* entries alone (gABI chapter 5), since section headers may be
// absent. read_tables locates the raw tables; ElfFile decodes them, from a file or from stored facts alike.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/result.h"
#include "framework/bytes/byte_view.h"

namespace compatrix::elf {

// gABI figures 4-3 and 4-4, 5-10; glibc's elf.h for the GNU ones.
inline constexpr std::uint16_t EM_386 = 3, EM_X86_64 = 62, EM_AARCH64 = 183;
inline constexpr std::uint16_t ET_EXEC = 2, ET_DYN = 3;
inline constexpr std::uint32_t PT_LOAD = 1, PT_DYNAMIC = 2, PT_NOTE = 4, PT_TLS = 7, PT_GNU_PROPERTY = 0x6474e553;
inline constexpr std::uint64_t DT_NEEDED = 1, DT_PLTRELSZ = 2, DT_HASH = 4, DT_STRTAB = 5, DT_SYMTAB = 6, DT_RELA = 7,
                               DT_RELASZ = 8, DT_RELAENT = 9, DT_STRSZ = 10, DT_SONAME = 14, DT_RPATH = 15,
                               DT_SYMBOLIC = 16, DT_PLTREL = 20, DT_JMPREL = 23, DT_RUNPATH = 29, DT_FLAGS = 30,
                               DT_RELR = 36, DT_RELRENT = 37, DT_GNU_HASH = 0x6ffffef5, DT_VERSYM = 0x6ffffff0,
                               DT_RELACOUNT = 0x6ffffff9, DT_FLAGS_1 = 0x6ffffffb, DT_VERDEF = 0x6ffffffc,
                               DT_VERDEFNUM = 0x6ffffffd, DT_VERNEED = 0x6ffffffe, DT_VERNEEDNUM = 0x6fffffff;
inline constexpr std::uint64_t DF_SYMBOLIC = 2, DF_1_NOOPEN = 0x40, DF_1_NODEFLIB = 0x800, DF_1_PIE = 0x8000000;
inline constexpr std::uint8_t STB_LOCAL = 0, STB_GLOBAL = 1, STB_WEAK = 2, STB_GNU_UNIQUE = 10;
inline constexpr std::uint8_t STT_NOTYPE = 0, STT_OBJECT = 1, STT_FUNC = 2, STT_COMMON = 5, STT_TLS = 6,
                              STT_GNU_IFUNC = 10;
inline constexpr std::uint8_t STV_INTERNAL = 1, STV_HIDDEN = 2;
inline constexpr std::uint16_t SHN_UNDEF = 0, SHN_ABS = 0xfff1;

struct Segment {
  std::uint32_t type = 0, flags = 0;
  std::uint64_t offset = 0, address = 0, file_size = 0, memory_size = 0, alignment = 0;
};

struct DynamicEntry {
  std::uint64_t tag = 0, value = 0;
};

// How the loader treats the lookup that a relocation asks for (glibc's ELF_RTYPE_CLASS_*).
enum class LookupClass : std::uint8_t { data = 0, plt = 1, copy = 2 };

// Whether a relocation fixes the offset of thread-local memory from the thread pointer, so that the memory must lie in
// the static TLS block (glibc's CHECK_STATIC_TLS), or would like to (TRY_STATIC_TLS).
enum class StaticTls : std::uint8_t { no = 0, required = 1, preferred = 2 };

// A symbol that some relocation names.
struct SymbolReference {
  std::uint32_t symbol = 0;  // index into the dynamic symbol table; 0: the object's own thread-local memory
  LookupClass lookup = LookupClass::data;
  StaticTls static_tls = StaticTls::no;
};

// The raw tables of one file, not yet decoded. Views point into whatever bytes they were read from.
struct RawTables {
  bool class64 = true;
  std::uint16_t type = 0, machine = 0;
  std::uint64_t file_size = 0;
  std::vector<Segment> segments;
  std::vector<DynamicEntry> dynamic;  // without DT_NULL
  ByteView dynstr, dynsym, versym, gnu_hash, sysv_hash, verneed, verdef;
  // First occurrences, in the order in which glibc relocates; only those whose lookup can end badly or place
  // thread-local memory.
  std::vector<SymbolReference> references;
  std::string build_id;          // hexadecimal
  std::uint32_t isa_needed = 0;  // GNU_PROPERTY_X86_ISA_1_NEEDED (x86-64 psABI, 'Program Property')
};

// The program headers alone, of a file whose beginning is at hand; empty where it is no 64-bit little-endian ELF file.
// Throws FormatError.
std::vector<Segment> read_program_headers(const ByteSource& file);

// A loaded segment reaches beyond the end of the file.
bool ends_early(const RawTables& tables);

// Mapping it already ends the process: it ends so early that a page is touched that is not there (SIGBUS), or its
// dynamic section lacks what glibc takes for granted. The rest of a cut file's last page reads as zeros, which may make
// the dynamic section a short one.
bool dies_when_mapped(const RawTables& tables);

// Where the memory pages of a mapped file of this size end, in bytes.
std::uint64_t end_of_last_page(std::uint64_t file_size);

// Finds the tables of a 64-bit little-endian file. Of another class or byte order only the header is read, of a file
// that ends early what is there.
// Throws FormatError.
RawTables read_tables(const ByteSource& file);

// A dynamic symbol; its name is read when it is wanted, for most never are.
struct Symbol {
  std::uint8_t binding = 0, type = 0, visibility = 0;
  std::uint16_t section = 0;
  std::uint64_t value = 0, size = 0;
  [[nodiscard]] bool undefined() const { return section == SHN_UNDEF; }
};

// One version of a version need: "libstdc++.so.6 must define GLIBCXX_3.4.32".
struct VersionRequirement {
  std::string_view name;
  std::uint16_t index = 0;  // what .gnu.version entries refer to
  bool hidden = false;
  bool weak = false;
};
struct VersionNeed {
  std::string_view file;  // soname of the object that must define them
  std::vector<VersionRequirement> versions;
};
struct VersionDefinition {
  std::string_view name;
  std::uint16_t index = 0;
  bool base = false;  // names the file itself
};
// What a .gnu.version index means in this file.
struct SymbolVersion {
  std::string_view name;  // empty: no such index
  std::string_view file;  // the object that must define it, for a need
  bool hidden = false;
};

class ElfFile {
 public:
  // Decodes the tables; `backing` keeps alive what their views point into. Throws FormatError.
  ElfFile(RawTables tables, std::shared_ptr<const void> backing);

  [[nodiscard]] const RawTables& tables() const { return tables_; }
  [[nodiscard]] std::uint16_t machine() const { return tables_.machine; }
  [[nodiscard]] bool class64() const { return tables_.class64; }
  [[nodiscard]] const std::vector<std::string_view>& needed() const { return needed_; }
  [[nodiscard]] std::optional<std::string_view> soname() const { return soname_; }
  [[nodiscard]] std::optional<std::string_view> rpath() const { return rpath_; }
  [[nodiscard]] std::optional<std::string_view> runpath() const { return runpath_; }
  [[nodiscard]] bool symbolic() const { return symbolic_; }
  [[nodiscard]] bool no_default_libraries() const { return (flags_1_ & DF_1_NODEFLIB) != 0; }
  // DT_FLAGS_1.
  [[nodiscard]] std::uint64_t flags_1() const { return flags_1_; }
  [[nodiscard]] bool has_relative_relocation_table() const { return has_relative_relocation_table_; }  // DT_RELR
  // The segment of thread-local memory, where there is any.
  [[nodiscard]] const Segment* thread_local_segment() const;
  [[nodiscard]] const std::vector<VersionNeed>& version_needs() const { return version_needs_; }
  [[nodiscard]] const std::vector<VersionDefinition>& version_definitions() const { return version_definitions_; }
  [[nodiscard]] bool has_version_definitions() const { return has_version_definitions_; }
  // True where symbols carry version indices that mean something; else lookups in it ignore versions.
  [[nodiscard]] bool has_symbol_versions() const { return !tables_.versym.empty() && !versions_.empty(); }
  // A segment reaches beyond the end of the file: touching it kills the process (SIGBUS).
  [[nodiscard]] bool truncated() const { return truncated_; }
  // Truncated so that relocating it ends the process: no string table any more, or memory to write to is not there.
  [[nodiscard]] bool dies_when_relocated() const;

  [[nodiscard]] std::uint32_t symbol_count() const { return symbol_count_; }
  [[nodiscard]] Symbol symbol(std::uint32_t index) const;
  // Empty where it lies outside of the string table.
  [[nodiscard]] std::string_view symbol_name(std::uint32_t index) const;
  // The raw .gnu.version entry of a symbol (bit 15: hidden), or nothing in a file without that table.
  [[nodiscard]] std::optional<std::uint16_t> version_index(std::uint32_t symbol) const;
  [[nodiscard]] SymbolVersion version(std::uint16_t index) const;

  // The Bloom filter of .gnu.hash says that no symbol with this hash is defined. In the header because a lookup asks
  // every library of its scope.
  [[nodiscard]] bool excludes(std::uint32_t hash) const {
    if (bloom_words_ == 0) return false;
    const std::uint64_t word = bloom_.u64(std::uint64_t{(hash / 64) & (bloom_words_ - 1)} * 8);
    const std::uint32_t second = bloom_shift_ < 32 ? hash >> bloom_shift_ : 0;
    return ((word >> (hash & 63)) & (word >> (second & 63)) & 1) == 0;
  }
  // Indices of the symbols of this name, as the file's own hash table has them: what the loader would see.
  // `hash` is gnu_hash(name).
  void find(std::string_view name, std::uint32_t hash, std::vector<std::uint32_t>& found) const;

 private:
  void decode_dynamic();
  void decode_version_needs();
  void decode_version_definitions();
  void set_version(std::uint16_t index, SymbolVersion version);
  void prepare_hash_table();
  [[nodiscard]] std::string_view string(std::uint64_t offset) const { return tables_.dynstr.c_string(offset); }
  [[nodiscard]] bool is_named(std::uint32_t index, std::string_view name) const;
  void find_by_sysv_hash(std::string_view name, std::vector<std::uint32_t>& found) const;

  RawTables tables_;
  std::shared_ptr<const void> backing_;
  std::vector<std::string_view> needed_;
  std::optional<std::string_view> soname_, rpath_, runpath_;
  bool symbolic_ = false, truncated_ = false, has_version_definitions_ = false, has_relative_relocation_table_ = false;
  std::uint64_t flags_1_ = 0;
  std::vector<VersionNeed> version_needs_;
  std::vector<VersionDefinition> version_definitions_;
  // By index, which a hostile file may choose as it likes: 0 where there is no such version, else its place in
  // versions_ and one more.
  std::vector<std::uint16_t> version_places_;
  std::vector<SymbolVersion> versions_;
  std::uint32_t symbol_count_ = 0;
  // .gnu.hash (the format of binutils' ld, as glibc's dl-lookup.c reads it)
  ByteView bloom_;
  std::uint32_t bucket_count_ = 0, first_hashed_ = 0, bloom_words_ = 0, bloom_shift_ = 0;
  std::uint64_t buckets_at_ = 0, chains_at_ = 0;
};

// Reads and decodes in one step; the Error names the file and the offset.
Result<std::shared_ptr<const ElfFile>> read_elf(const std::string& name, std::shared_ptr<const ByteSource> file);

std::uint32_t gnu_hash(std::string_view name);

}  // namespace compatrix::elf
