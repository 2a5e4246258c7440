// The members of an archive: local headers against the directory, and the data behind them.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "framework/bytes/byte_view.h"
#include "framework/bytes/digest.h"
#include "framework/bytes/inflate.h"
#include "framework/wheel/zip_format.h"

namespace compatrix::wheel {
namespace {

using namespace zip;

// Compares a local header with its central one.
std::vector<ZipDefect> compare_headers(const ByteView& local, const ZipEntry& entry) {
  std::vector<ZipDefect> defects;
  const auto defect = [&](const char* rule, const std::string& message) {
    defects.push_back({rule, true, entry.name, entry.local_header, message});
  };
  if (local.u32(0) != kLocalHeader) {
    defect("local-header-missing", "the directory leads to something that is no local header");
    return defects;
  }
  if (local.slice(kLocalSize, local.u16(26)).text() != entry.name)
    defect("local-name-differs", "the local header has another name");
  if (local.u16(8) != entry.method) defect("local-method-differs", "the local header has another compression method");
  if ((local.u16(6) & ~0x0800U) != (entry.flags & ~0x0800U))
    defect("local-flags-differ", "the local header has other flags");
  if ((entry.flags & kDataDescriptor) != 0) return defects;
  if (local.u32(14) != entry.crc32) defect("local-crc-differs", "the local header has another CRC");
  const bool large = local.u32(18) == 0xffffffff || local.u32(22) == 0xffffffff;
  if (!large && (local.u32(18) != entry.compressed_size || local.u32(22) != entry.size))
    defect("local-size-differs", "the local header has another size");
  return defects;
}

// Why an entry's content can't be had at all, or nothing.
std::string unreadable(const ZipEntry& entry) {
  if ((entry.flags & kEncrypted) != 0) return "the entry is encrypted, which no installer can read";
  if (entry.method != kStored && entry.method != kDeflated)
    return fmt::format("the entry is compressed by method {}, which wheels do not use", entry.method);
  if (entry.method == kStored && entry.size != entry.compressed_size)
    return fmt::format("the directory gives {} and {} bytes for an entry that is stored as it is",
                       entry.compressed_size, entry.size);
  return {};
}

// Cuts the local header off the front of a stream; the rest is the entry's data.
class LocalHeaderReader {
 public:
  explicit LocalHeaderReader(const ZipEntry& entry) : entry_(entry) {}

  // Returns the part of `piece` that is data, once the header is whole; an Error where the headers disagree.
  Result<std::span<const std::byte>> pass(std::span<const std::byte> piece) {
    if (done_) return piece;
    const std::size_t had = header_.size();
    header_.insert(header_.end(), piece.begin(), piece.end());
    const ByteView view(header_, entry_.local_header);
    if (view.size() < kLocalSize || view.size() < kLocalSize + view.u16(26) + view.u16(28))
      return std::span<const std::byte>{};
    const std::size_t length = kLocalSize + view.u16(26) + view.u16(28);
    if (const auto defects = compare_headers(view.slice(0, length), entry_); !defects.empty())
      return Error{entry_.name, fmt::format("at offset {:#x}: {}", entry_.local_header, defects.front().message)};
    done_ = true;
    return piece.subspan(length - had);
  }
  [[nodiscard]] std::uint64_t length() const {
    return kLocalSize + ByteView(header_).u16(26) + ByteView(header_).u16(28);
  }
  [[nodiscard]] bool done() const { return done_; }

 private:
  const ZipEntry& entry_;
  std::vector<std::byte> header_;
  bool done_ = false;
};

// Checks size and CRC of what comes out, and hands it on.
class MemberReader {
 public:
  MemberReader(const ZipEntry& entry, const ByteSink& sink)
      : entry_(entry),
        sink_(sink),
        inflater_(entry.size, [this](std::span<const std::byte> output) { return accept(output); }) {}

  // The next piece of the entry's compressed data; false: stop.
  bool feed(std::span<const std::byte> data) {
    data = data.first(std::min<std::uint64_t>(data.size(), entry_.compressed_size - taken_));
    taken_ += data.size();
    if (entry_.method == kStored) return accept(data);
    if (const auto fed = inflater_.feed(data); !fed) {
      failure_ = fed.error().message;
      return false;
    }
    return !stopped_;
  }

  [[nodiscard]] bool wants_more() const { return failure_.empty() && !stopped_ && taken_ != entry_.compressed_size; }

  [[nodiscard]] std::string verdict() const {
    if (!failure_.empty()) return failure_;
    if (stopped_) return {};
    if (taken_ != entry_.compressed_size) return "the entry's data ends early";
    if (entry_.method == kDeflated && !inflater_.finished()) return "the compressed data has no end";
    if (produced_ != entry_.size)
      return fmt::format("decompresses to {} bytes, the directory says {}", produced_, entry_.size);
    if (crc_ != entry_.crc32)
      return fmt::format("has CRC {:08x}, the directory says {:08x}: the archive is damaged", crc_, entry_.crc32);
    return {};
  }

 private:
  bool accept(std::span<const std::byte> output) {
    if (output.empty()) return true;
    produced_ += output.size();
    crc_ = crc32(crc_, output);
    if (!sink_(output)) stopped_ = true;
    return !stopped_;
  }

  const ZipEntry& entry_;
  const ByteSink& sink_;
  Inflater inflater_;
  std::uint64_t taken_ = 0, produced_ = 0;
  std::uint32_t crc_ = 0;
  bool stopped_ = false;
  std::string failure_;
};

// Whether what follows an entry's data is the data descriptor that its flags announce, and nothing else.
bool is_descriptor(const ByteView& between, const ZipEntry& entry) {
  if (between.size() < 12 || between.size() > 24) return false;
  const std::uint64_t at = between.size() % 8 == 0 ? 4 : 0;  // 16 and 24 bytes: with a signature
  if (at != 0 && between.u32(0) != kDescriptor) return false;
  if (between.u32(at) != entry.crc32) return false;
  if (between.size() - at == 12)
    return between.u32(at + 4) == entry.compressed_size && between.u32(at + 8) == entry.size;
  return between.size() - at == 20 && between.u64(at + 4) == entry.compressed_size &&
         between.u64(at + 12) == entry.size;
}

// Where the data of an entry ends, by its local header.
std::uint64_t end_of_data(const ByteView& local, const ZipEntry& entry) {
  return entry.local_header + kLocalSize + local.u16(26) + local.u16(28) + entry.compressed_size;
}

// Bytes between the end of an entry's data and what comes next, where no reader of the directory looks.
void check_gap(RandomAccess& archive, const ZipEntry& entry, std::uint64_t end, std::uint64_t next,
               std::vector<ZipDefect>& defects) {
  const auto defect = [&](const char* rule, std::string message) {
    defects.push_back({rule, true, entry.name, end, std::move(message)});
  };
  const bool announced = (entry.flags & kDataDescriptor) != 0;
  if (next < end) return defect("overlapping-entries", "the entry's data runs into what follows it");
  if (next == end && !announced) return;
  const auto bytes = archive.read(end, std::min<std::uint64_t>(next - end, 64));
  if (announced && bytes && next - end <= 24 && is_descriptor(ByteView(*bytes, end), entry)) return;
  if (announced) return defect("descriptor-differs", "the data descriptor does not repeat what the directory says");
  defect("stray-bytes", fmt::format("{} bytes behind the entry belong to no entry of the directory", next - end));
}

}  // namespace

std::vector<ZipDefect> reconcile_local_headers(RandomAccess& archive, const ZipDirectory& directory) try {
  std::vector<ZipDefect> defects, known;
  const auto place = find_directory(archive, known);
  if (!place) return {{"unreadable-archive", true, "", 0, place.error().message}};
  std::vector<const ZipEntry*> entries;
  for (const ZipEntry& entry : directory.entries) entries.push_back(&entry);
  std::stable_sort(entries.begin(), entries.end(),
                   [](const ZipEntry* a, const ZipEntry* b) { return a->local_header < b->local_header; });
  if (const std::uint64_t first = entries.empty() ? place->offset : entries.front()->local_header; first != 0)
    defects.push_back({"stray-bytes", true, "", 0, fmt::format("{} bytes lie before the first entry", first)});
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const ZipEntry& entry = *entries[i];
    const auto bytes = archive.read(entry.local_header, std::min<std::uint64_t>(kLocalSize + entry.name.size(),
                                                                                archive.size() - entry.local_header));
    try {
      if (!bytes) throw FormatError(entry.local_header, "a local header was expected");
      const ByteView local(*bytes, entry.local_header);
      for (ZipDefect& defect : compare_headers(local, entry)) defects.push_back(std::move(defect));
      if (local.u32(0) == kLocalHeader)
        check_gap(archive, entry, end_of_data(local, entry),
                  i + 1 < entries.size() ? entries[i + 1]->local_header : place->offset, defects);
    } catch (const FormatError& failure) {
      defects.push_back({"local-header-missing", true, entry.name, entry.local_header, failure.what()});
    }
  }
  return defects;
} catch (const FormatError& defect) {
  return {{"unreadable-archive", true, "", defect.offset(), defect.what()}};
}

Result<Done> stream_member(RandomAccess& archive, const ZipEntry& entry, const ByteSink& sink) try {
  if (const std::string refusal = unreadable(entry); !refusal.empty())
    return Error{archive.name() + "/" + entry.name, fmt::format("at offset {:#x}: {}", entry.local_header, refusal)};
  LocalHeaderReader header(entry);
  MemberReader member(entry, sink);
  std::optional<Error> failure;
  const auto receive = [&](std::span<const std::byte> piece) {
    const auto data = header.pass(piece);
    if (!data) {
      failure = data.error();
      return false;
    }
    return data->empty() || member.feed(*data);
  };
  // Extra fields of local headers are a few bytes long; where they are longer the rest is read in a second range.
  constexpr std::uint64_t kUsualExtra = 64;
  const std::uint64_t first = std::min(kLocalSize + entry.name.size() + kUsualExtra + entry.compressed_size,
                                       archive.size() - entry.local_header);
  if (const auto streamed = archive.stream(entry.local_header, first, receive); !streamed) return streamed.error();
  if (failure) return Error{archive.name() + "/" + entry.name, failure->message};
  const std::uint64_t whole = header.done() ? header.length() + entry.compressed_size : first + kLongestComment;
  if (whole > first && (!header.done() || member.wants_more()))
    if (const auto rest = archive.stream(entry.local_header + first,
                                         std::min(whole - first, archive.size() - entry.local_header - first), receive);
        !rest)
      return rest.error();
  if (!failure && !header.done()) throw FormatError(entry.local_header, "the local header runs past the archive's end");
  if (failure) return Error{archive.name() + "/" + entry.name, failure->message};
  if (const std::string verdict = member.verdict(); !verdict.empty())
    return Error{archive.name() + "/" + entry.name, fmt::format("at offset {:#x}: {}", entry.local_header, verdict)};
  return Done{};
} catch (const FormatError& defect) {
  return Error{archive.name() + "/" + entry.name, defect.what()};
}

Result<std::string> read_member(RandomAccess& archive, const ZipEntry& entry, std::uint64_t limit) {
  if (entry.size > limit)
    return Error{archive.name() + "/" + entry.name,
                 fmt::format("has {} bytes, at most {} were expected of a text", entry.size, limit)};
  std::string text;
  const auto read = stream_member(archive, entry, [&](std::span<const std::byte> piece) {
    text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    return true;
  });
  if (!read) return read.error();
  return text;
}

}  // namespace compatrix::wheel
