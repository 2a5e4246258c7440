#include "framework/facts/extract.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "framework/bytes/digest.h"
#include "framework/facts/kept_bytes.h"
#include "framework/facts/library_facts.h"

namespace compatrix::facts {
namespace {

constexpr int kPasses = 4;
constexpr std::uint64_t kGenerous = 16U << 20;  // kept beyond a range that was missed: tables have neighbours

// The dynamic section may lie anywhere; the program headers, which come first, say where.
void keep_dynamic_section(KeptBytes& kept) {
  try {
    for (const elf::Segment& segment : elf::read_program_headers(kept))
      if (segment.type == elf::PT_DYNAMIC) kept.keep({segment.offset, segment.file_size});
  } catch (const FormatError&) {   // no ELF file, which read_tables will say
  } catch (const BytesNotKept&) {  // program headers elsewhere: a second pass
  }
}

// Streams the member into `kept` and `locations`, and holds its digest against RECORD.
Result<RecordAgreement> stream_into(KeptBytes& kept, RandomAccess& archive, const wheel::ZipEntry& entry,
                                    const std::string& record_sha256, SourceLocationScanner& locations) {
  Sha256 digest;
  auto streamed = wheel::stream_member(archive, entry, [&](std::span<const std::byte> piece) {
    digest.update(piece);
    locations.append(piece);
    const bool first = kept.position() == 0;
    kept.append(piece);
    if (first) keep_dynamic_section(kept);
    return true;
  });
  if (!streamed) return streamed.error();
  if (record_sha256.empty()) return RecordAgreement::not_listed;
  return digest.base64url() == record_sha256 ? RecordAgreement::matches : RecordAgreement::differs;
}

}  // namespace

Result<std::string> extract_library(RandomAccess& archive, const wheel::ZipEntry& entry,
                                    const std::string& record_sha256) {
  std::vector<BytesNotKept> also;
  for (int pass = 0; pass < kPasses; ++pass) {
    KeptBytes kept(entry.size, {}, also);
    SourceLocationScanner locations;
    const auto agreement = stream_into(kept, archive, entry, record_sha256, locations);
    if (!agreement) return agreement.error();
    try {
      const elf::RawTables tables = elf::read_tables(kept);
      const elf::ElfFile decoded(tables, nullptr);  // its tables must make sense, or the file is defective
      return encode_library(tables, *agreement, locations.take());
    } catch (const BytesNotKept& missed) {
      also.push_back({missed.offset, std::max(missed.size, kGenerous)});
    } catch (const FormatError& defect) {
      return encode_defective_library(defect.what(), *agreement);
    }
  }
  return encode_defective_library("its dynamic tables are scattered over the file in a way that no linker writes",
                                  RecordAgreement::not_checked);
}

}  // namespace compatrix::facts
