#include "framework/facts/library_facts.h"

#include "framework/facts/encoding.h"

namespace compatrix::facts {
namespace {

constexpr std::uint64_t kMagic = 0x327962696c787863;  // "cxxlib" and the format's number
constexpr std::uint64_t kDefective = 1;

void put_tables(Encoder& out, const elf::RawTables& tables) {
  out.number(tables.class64 ? 1 : 0);
  out.number(tables.type);
  out.number(tables.machine);
  out.number(tables.file_size);
  out.number(tables.segments.size());
  for (const elf::Segment& s : tables.segments)
    for (const std::uint64_t value :
         {std::uint64_t{s.type}, std::uint64_t{s.flags}, s.offset, s.address, s.file_size, s.memory_size})
      out.number(value);
  out.number(tables.dynamic.size());
  for (const elf::DynamicEntry& entry : tables.dynamic) {
    out.number(entry.tag);
    out.number(entry.value);
  }
  for (const ByteView* table : {&tables.dynstr, &tables.dynsym, &tables.versym, &tables.gnu_hash, &tables.sysv_hash,
                                &tables.verneed, &tables.verdef})
    out.bytes(table->text());
  out.number(tables.references.size());
  for (const elf::SymbolReference& reference : tables.references)
    out.number(std::uint64_t{reference.symbol} << 2 | static_cast<std::uint64_t>(reference.lookup));
  out.bytes(tables.build_id);
}

elf::RawTables get_tables(Decoder& in) {
  elf::RawTables tables;
  tables.class64 = in.number() != 0;
  tables.type = static_cast<std::uint16_t>(in.number());
  tables.machine = static_cast<std::uint16_t>(in.number());
  tables.file_size = in.number();
  tables.segments.resize(in.count(48));
  for (elf::Segment& s : tables.segments) {
    s.type = static_cast<std::uint32_t>(in.number());
    s.flags = static_cast<std::uint32_t>(in.number());
    for (std::uint64_t* value : {&s.offset, &s.address, &s.file_size, &s.memory_size}) *value = in.number();
  }
  tables.dynamic.resize(in.count(16));
  for (elf::DynamicEntry& entry : tables.dynamic) entry = {in.number(), in.number()};
  for (ByteView* table : {&tables.dynstr, &tables.dynsym, &tables.versym, &tables.gnu_hash, &tables.sysv_hash,
                          &tables.verneed, &tables.verdef})
    *table = in.bytes();
  tables.references.resize(in.count(8));
  for (elf::SymbolReference& reference : tables.references) {
    const std::uint64_t packed = in.number();
    reference = {static_cast<std::uint32_t>(packed >> 2), static_cast<elf::LookupClass>(packed & 3)};
  }
  tables.build_id = in.text();
  return tables;
}

}  // namespace

std::string encode_library(const elf::RawTables& tables, RecordAgreement record,
                           const std::vector<SourceLocation>& locations) {
  Encoder out;
  out.number(kMagic);
  out.number(0);
  out.number(static_cast<std::uint64_t>(record));
  put_tables(out, tables);
  out.number(locations.size());
  for (const SourceLocation& location : locations) {
    out.bytes(location.header);
    out.number(location.line);
  }
  return out.take();
}

std::string encode_defective_library(const std::string& defect, RecordAgreement record) {
  Encoder out;
  out.number(kMagic);
  out.number(kDefective);
  out.number(static_cast<std::uint64_t>(record));
  out.bytes(defect);
  return out.take();
}

Result<LibraryFacts> decode_library(const std::string& name, const std::shared_ptr<const ByteSource>& bytes) try {
  Decoder in(bytes->slice(0, bytes->size()));
  if (in.number() != kMagic) throw FormatError(0, "stored library facts were expected");
  const bool defective = in.number() == kDefective;
  LibraryFacts facts;
  facts.record = static_cast<RecordAgreement>(in.number() & 3);
  if (defective) {
    facts.defect = in.text();
    return facts;
  }
  facts.elf = std::make_shared<elf::ElfFile>(get_tables(in), bytes);
  facts.source_locations.resize(in.count(16));
  for (SourceLocation& location : facts.source_locations)
    location = {in.text(), static_cast<std::uint32_t>(in.number())};
  return facts;
} catch (const FormatError& defect) {
  return Error{name, defect.what()};
}

}  // namespace compatrix::facts
