#include "framework/facts/extract.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "framework/bytes/digest.h"

namespace compatrix::facts {
namespace {

constexpr std::uint32_t kExecutable = 1;  // PF_X
constexpr int kPasses = 4;
constexpr std::uint64_t kGenerous = 16U << 20;       // kept beyond a range that was missed: tables have neighbours
constexpr std::uint64_t kHeaders = 64U << 10;        // program headers further on are found in a second pass
constexpr std::uint64_t kTables = 48U << 20;         // of a segment that has nothing else
constexpr std::uint64_t kBeforeCode = 24U << 20;     // of a first segment that goes on with code
constexpr std::uint64_t kOtherSegments = 32U << 20;  // of all others together
constexpr std::uint64_t kNotes = 64U << 10;

// Where the tables of a file with these segments may lie. Linkers put them into the first segment; patchelf moves those
// that grow into a further one at the end of the file; none has them in a segment of code behind the first.
std::vector<BytesNotKept> likely_ranges(const std::vector<elf::Segment>& segments) {
  std::vector<BytesNotKept> ranges{{0, kHeaders}};
  bool first = true;
  std::uint64_t left = kOtherSegments;
  for (const elf::Segment& segment : segments) {
    const bool executable = (segment.flags & kExecutable) != 0;
    std::uint64_t wanted = 0;
    if (segment.type == elf::PT_LOAD && std::exchange(first, false)) {
      wanted = std::min(segment.file_size, executable ? kBeforeCode : kTables);
    } else if ((segment.type == elf::PT_LOAD && !executable) || segment.type == elf::PT_DYNAMIC ||
               (segment.type == elf::PT_NOTE && segment.file_size <= kNotes)) {
      wanted = segment.file_size <= left ? segment.file_size : 0;
      left -= wanted;
    }
    if (wanted != 0) ranges.push_back({segment.offset, wanted});
  }
  return ranges;
}

// Streams the member into the collector, and its digest against RECORD.
Result<RecordAgreement> stream_into(LibraryCollector& collector, RandomAccess& archive, const wheel::ZipEntry& entry,
                                    const std::string& record_sha256) {
  Sha256 digest;
  auto streamed = wheel::stream_member(archive, entry, [&](std::span<const std::byte> piece) {
    digest.update(piece);
    collector.append(piece);
    return true;
  });
  if (!streamed) return streamed.error();
  if (record_sha256.empty()) return RecordAgreement::not_listed;
  return digest.base64url() == record_sha256 ? RecordAgreement::matches : RecordAgreement::differs;
}

}  // namespace

LibraryCollector::LibraryCollector(std::uint64_t size, std::vector<BytesNotKept> also)
    : also_(std::move(also)), kept_(size, {}, also_) {}

void LibraryCollector::append(std::span<const std::byte> piece) {
  locations_.append(piece);
  kept_.append(piece);
  if (!chosen_) choose_ranges();
}

// As soon as the program headers are there they say what is worth keeping.
void LibraryCollector::choose_ranges() {
  try {
    std::vector<BytesNotKept> ranges = likely_ranges(elf::read_program_headers(kept_));
    ranges.insert(ranges.end(), also_.begin(), also_.end());
    kept_.keep_only(ranges);
    chosen_ = true;
  } catch (const FormatError&) {  // no ELF file, which encode will say
    kept_.keep_only({{0, kHeaders}});
    chosen_ = true;
  } catch (const BytesNotKept&) {  // not yet, or they lie elsewhere
    chosen_ = kept_.position() >= kHeaders;
  }
}

std::string LibraryCollector::encode(RecordAgreement agreement) {
  const elf::Acceptance acceptance = elf::examine(kept_);
  try {
    const elf::RawTables tables = elf::read_tables(kept_);
    const elf::ElfFile decoded(tables, nullptr);  // its tables must make sense, or the file is defective
    return encode_library(tables, acceptance, agreement, locations_.take());
  } catch (const FormatError& defect) {
    return encode_defective_library(defect.what(), acceptance, agreement);
  }
}

Result<std::string> extract_library(RandomAccess& archive, const wheel::ZipEntry& entry,
                                    const std::string& record_sha256) {
  std::vector<BytesNotKept> also;
  for (int pass = 0; pass < kPasses; ++pass) {
    LibraryCollector collector(entry.size, also);
    const auto agreement = stream_into(collector, archive, entry, record_sha256);
    if (!agreement) return agreement.error();
    try {
      return collector.encode(*agreement);
    } catch (const BytesNotKept& missed) {
      also.push_back({missed.offset, std::max(missed.size, kGenerous)});
    }
  }
  return encode_defective_library("its dynamic tables are scattered over the file in a way that no linker writes", {},
                                  RecordAgreement::not_checked);
}

}  // namespace compatrix::facts
