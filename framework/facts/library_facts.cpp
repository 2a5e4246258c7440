#include "framework/facts/library_facts.h"

#include "framework/facts/encoding.h"

namespace compatrix::facts {
namespace {

constexpr std::uint64_t kMagic = 0x337962696c787863;  // "cxxlib" and the format's number
constexpr std::uint64_t kDefective = 1;

void put_tables(Encoder& out, const elf::RawTables& tables) {
  out.number(tables.class64 ? 1 : 0);
  out.number(tables.type);
  out.number(tables.machine);
  out.number(tables.file_size);
  out.number(tables.segments.size());
  for (const elf::Segment& s : tables.segments)
    for (const std::uint64_t value :
         {std::uint64_t{s.type}, std::uint64_t{s.flags}, s.offset, s.address, s.file_size, s.memory_size, s.alignment})
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
    out.number(std::uint64_t{reference.symbol} << 4 | static_cast<std::uint64_t>(reference.static_tls) << 2 |
               static_cast<std::uint64_t>(reference.lookup));
  out.bytes(tables.build_id);
  out.number(tables.isa_needed);
}

elf::RawTables get_tables(Decoder& in) {
  elf::RawTables tables;
  tables.class64 = in.number() != 0;
  tables.type = static_cast<std::uint16_t>(in.number());
  tables.machine = static_cast<std::uint16_t>(in.number());
  tables.file_size = in.number();
  tables.segments.resize(in.count(56));
  for (elf::Segment& s : tables.segments) {
    s.type = static_cast<std::uint32_t>(in.number());
    s.flags = static_cast<std::uint32_t>(in.number());
    for (std::uint64_t* value : {&s.offset, &s.address, &s.file_size, &s.memory_size, &s.alignment})
      *value = in.number();
  }
  tables.dynamic.resize(in.count(16));
  for (elf::DynamicEntry& entry : tables.dynamic) entry = {in.number(), in.number()};
  for (ByteView* table : {&tables.dynstr, &tables.dynsym, &tables.versym, &tables.gnu_hash, &tables.sysv_hash,
                          &tables.verneed, &tables.verdef})
    *table = in.bytes();
  tables.references.resize(in.count(8));
  for (elf::SymbolReference& reference : tables.references) {
    const std::uint64_t packed = in.number();
    reference = {static_cast<std::uint32_t>(packed >> 4), static_cast<elf::LookupClass>(packed & 3),
                 static_cast<elf::StaticTls>(packed >> 2 & 3)};
  }
  tables.build_id = in.text();
  tables.isa_needed = static_cast<std::uint32_t>(in.number());
  return tables;
}

void put_acceptance(Encoder& out, const elf::Acceptance& acceptance) {
  out.number(acceptance.other_class ? 1 : 0);
  out.number(acceptance.machine);
  out.bytes(acceptance.refusal);
  out.bytes(acceptance.mapping_refusal);
}

elf::Acceptance get_acceptance(Decoder& in) {
  elf::Acceptance acceptance;
  acceptance.other_class = in.number() != 0;
  acceptance.machine = static_cast<std::uint16_t>(in.number());
  acceptance.refusal = in.text();
  acceptance.mapping_refusal = in.text();
  return acceptance;
}

}  // namespace

std::string encode_library(const elf::RawTables& tables, const elf::Acceptance& acceptance, RecordAgreement record,
                           const std::vector<SourceLocation>& locations) {
  Encoder out;
  out.number(kMagic);
  out.number(0);
  out.number(static_cast<std::uint64_t>(record));
  put_acceptance(out, acceptance);
  put_tables(out, tables);
  out.number(locations.size());
  for (const SourceLocation& location : locations) {
    out.bytes(location.header);
    out.number(location.line);
  }
  return out.take();
}

std::string encode_defective_library(const std::string& defect, const elf::Acceptance& acceptance,
                                     RecordAgreement record) {
  Encoder out;
  out.number(kMagic);
  out.number(kDefective);
  out.number(static_cast<std::uint64_t>(record));
  put_acceptance(out, acceptance);
  out.bytes(defect);
  return out.take();
}

Result<LibraryFacts> decode_library(const std::string& name, const std::shared_ptr<const ByteSource>& bytes) try {
  Decoder in(bytes->slice(0, bytes->size()));
  if (in.number() != kMagic) throw FormatError(0, "stored library facts were expected");
  const bool defective = in.number() == kDefective;
  LibraryFacts facts;
  facts.record = static_cast<RecordAgreement>(in.number() & 3);
  facts.acceptance = get_acceptance(in);
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
