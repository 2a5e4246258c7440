#include "framework/wheel/zip.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "framework/bytes/byte_view.h"
#include "framework/bytes/digest.h"
#include "framework/bytes/inflate.h"

namespace compatrix::wheel {
namespace {

constexpr std::uint32_t kEndOfDirectory = 0x06054b50, kEndOfDirectory64 = 0x06064b50, kLocator64 = 0x07064b50,
                        kCentralHeader = 0x02014b50, kLocalHeader = 0x04034b50;
constexpr std::uint64_t kEndSize = 22, kLocatorSize = 20, kEnd64Size = 56, kCentralSize = 46, kLocalSize = 30;
constexpr std::uint64_t kLongestComment = 65535;
constexpr std::uint64_t kLargestDirectory = 256U << 20;  // torch's is about 2 MB
constexpr std::uint16_t kStored = 0, kDeflated = 8;
constexpr std::uint16_t kEncrypted = 1, kDataDescriptor = 8;

// Where the central directory lies, by the end records.
struct DirectoryPlace {
  std::uint64_t offset = 0, size = 0, count = 0;
  std::uint64_t end = 0;  // offset of the first end record
};

// A range of the archive with its place in it.
Result<std::pair<std::vector<std::byte>, std::uint64_t>> read_tail(RandomAccess& archive) {
  const std::uint64_t size = archive.size();
  const std::uint64_t length = std::min(size, kEndSize + kLongestComment + kLocatorSize + kEnd64Size);
  auto bytes = archive.read(size - length, length);
  if (!bytes) return bytes.error();
  return std::pair(std::move(*bytes), size - length);
}

// The end record whose comment ends exactly at the end of the file; searched backwards, for comments may hold anything.
std::optional<std::uint64_t> find_end(const ByteView& tail) {
  if (tail.size() < kEndSize) return std::nullopt;
  for (std::uint64_t at = tail.size() - kEndSize + 1; at-- > 0;)
    if (tail.u32(at) == kEndOfDirectory && at + kEndSize + tail.u16(at + 20) == tail.size()) return at;
  return std::nullopt;
}

DirectoryPlace place_of(const ByteView& tail, std::uint64_t end, ZipDirectory& directory) {
  const std::uint64_t end_at = tail.file_offset() + end;
  DirectoryPlace place{
      .offset = tail.u32(end + 16), .size = tail.u32(end + 12), .count = tail.u16(end + 10), .end = end_at};
  if (tail.u16(end + 20) != 0)
    directory.defects.push_back(
        {"archive-comment", false, "", end_at, "the archive has a comment, which wheels have no use for"});
  if (tail.u16(end + 4) != 0 || tail.u16(end + 6) != 0 || tail.u16(end + 8) != tail.u16(end + 10))
    throw FormatError(end_at, "an archive in one part was expected");
  const bool has_locator = end >= kLocatorSize && tail.u32(end - kLocatorSize) == kLocator64;
  const bool needs64 = place.offset == 0xffffffff || place.size == 0xffffffff || place.count == 0xffff;
  if (!has_locator) {
    if (needs64) throw FormatError(end_at, "a ZIP64 end record was expected before the end record");
    return place;
  }
  const std::uint64_t end64 = tail.u64(end - kLocatorSize + 8);
  if (end64 < tail.file_offset() || end64 + kEnd64Size != end_at - kLocatorSize ||
      tail.u32(end64 - tail.file_offset()) != kEndOfDirectory64)
    throw FormatError(end_at - kLocatorSize, "the ZIP64 locator does not lead to a ZIP64 end record just before it");
  const ByteView record = tail.slice(end64 - tail.file_offset(), kEnd64Size);
  place = {.offset = record.u64(48), .size = record.u64(40), .count = record.u64(32), .end = end64};
  return place;
}

// Sizes and offset that do not fit their 32-bit fields, from the extra field 0x0001.
void apply_zip64(const ByteView& header, ZipEntry& entry) {
  const ByteView extra = header.slice(kCentralSize + header.u16(28), header.u16(30));
  for (std::uint64_t at = 0; at + 4 <= extra.size();) {
    const std::uint16_t id = extra.u16(at), size = extra.u16(at + 2);
    if (id == 1) {
      const ByteView field = extra.slice(at + 4, size);
      std::uint64_t next = 0;
      for (std::uint64_t* value : {&entry.size, &entry.compressed_size, &entry.local_header})
        if (*value == 0xffffffff) {
          *value = field.u64(next);
          next += 8;
        }
      return;
    }
    at += std::uint64_t{4} + size;
  }
}

bool has_control_characters(std::string_view name) {
  return std::any_of(name.begin(), name.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

bool escapes(std::string_view name) {
  if (name.starts_with('/') || name.find('\\') != std::string_view::npos || (name.size() > 1 && name[1] == ':'))
    return true;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    if (name.substr(at, end - at) == "..") return true;
    at = end + 1;
  }
  return false;
}

// Rules about one entry that need nothing but its central header.
void check_entry(const ZipEntry& entry, std::uint64_t at, std::uint16_t comment, std::vector<ZipDefect>& defects) {
  const auto defect = [&](const char* rule, bool ambiguous, const std::string& message) {
    defects.push_back({rule, ambiguous, entry.name, at, message});
  };
  if (entry.name.empty() || has_control_characters(entry.name))
    defect("unprintable-name", true, "an entry has an empty or unprintable name");
  if (escapes(entry.name))
    defect("escaping-name", true, "the entry's name leads out of the folder that the wheel is unpacked to");
  if ((entry.flags & kEncrypted) != 0) defect("encrypted", true, "the entry is encrypted");
  if (entry.method != kStored && entry.method != kDeflated)
    defect("unknown-method", true,
           fmt::format("the entry is compressed by method {}; wheels use 0 and 8", entry.method));
  if (entry.method == kStored && entry.size != entry.compressed_size)
    defect("size-mismatch", true, "a stored entry has two different sizes");
  if ((entry.flags & kDataDescriptor) != 0) defect("data-descriptor", false, "the entry's sizes stand behind its data");
  if (comment != 0) defect("entry-comment", true, "the entry has a comment, which the index refuses");
  if (const std::uint32_t mode = entry.external_attributes >> 16; (mode & 0170000) == 0120000)
    defect("symbolic-link", true, "the entry is a symbolic link");
}

void read_entries(const ByteView& bytes, const DirectoryPlace& place, ZipDirectory& directory) {
  std::uint64_t at = 0;
  for (std::uint64_t i = 0; i < place.count; ++i) {
    const ByteView header = bytes.slice(at, kCentralSize);
    if (header.u32(0) != kCentralHeader)
      throw FormatError(header.file_offset(), "a central directory header was expected");
    const std::uint16_t name = header.u16(28), extra = header.u16(30), comment = header.u16(32);
    const ByteView whole = bytes.slice(at, kCentralSize + name + extra + comment);
    ZipEntry entry{.name = std::string(whole.slice(kCentralSize, name).text()),
                   .compressed_size = header.u32(20),
                   .size = header.u32(24),
                   .local_header = header.u32(42),
                   .crc32 = header.u32(16),
                   .method = header.u16(10),
                   .flags = header.u16(8),
                   .external_attributes = header.u32(38)};
    apply_zip64(whole, entry);
    if (entry.local_header > place.offset || entry.compressed_size > place.offset - entry.local_header)
      throw FormatError(header.file_offset(), fmt::format("entry {} lies outside the archive's data", entry.name));
    check_entry(entry, header.file_offset(), comment, directory.defects);
    directory.entries.push_back(std::move(entry));
    at += whole.size();
  }
  if (at != bytes.size())
    directory.defects.push_back(
        {"directory-size", true, "", place.offset + at,
         fmt::format("the central directory has {} bytes, its {} entries take {}", bytes.size(), place.count, at)});
}

// Rules about entries together: names that are one file, data that overlaps.
void check_entries_together(ZipDirectory& directory) {
  std::map<std::string, const ZipEntry*> names;
  for (const ZipEntry& entry : directory.entries) {
    const auto [known, fresh] = names.emplace(entry.name, &entry);
    if (!fresh)
      directory.defects.push_back(
          {"duplicate-entry", true, entry.name, entry.local_header, "two entries have this name"});
  }
  std::vector<const ZipEntry*> by_offset;
  for (const ZipEntry& entry : directory.entries) by_offset.push_back(&entry);
  std::sort(by_offset.begin(), by_offset.end(),
            [](const ZipEntry* a, const ZipEntry* b) { return a->local_header < b->local_header; });
  for (std::size_t i = 1; i < by_offset.size(); ++i) {
    const ZipEntry& before = *by_offset[i - 1];
    if (before.local_header + kLocalSize + before.name.size() + before.compressed_size > by_offset[i]->local_header)
      directory.defects.push_back({"overlapping-entries", true, by_offset[i]->name, by_offset[i]->local_header,
                                   "the entry begins inside the data of " + before.name});
  }
}

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

}  // namespace

Result<ZipDirectory> read_zip_directory(RandomAccess& archive) try {
  auto tail = read_tail(archive);
  if (!tail) return tail.error();
  const ByteView view(tail->first, tail->second);
  const auto end = find_end(view);
  if (!end)
    return Error{archive.name(),
                 fmt::format("is no whole ZIP archive: the end of the central directory was expected in its last bytes "
                             "({} bytes in all); it was cut off or is another kind of file",
                             archive.size())};
  ZipDirectory directory;
  const DirectoryPlace place = place_of(view, *end, directory);
  if (place.offset > place.end || place.size != place.end - place.offset || place.size > kLargestDirectory)
    return Error{
        archive.name(),
        fmt::format("at offset {:#x}: a central directory of {} bytes at {:#x} was expected to end here; the archive "
                    "was cut, joined or changed",
                    place.end, place.size, place.offset)};
  auto bytes = archive.read(place.offset, place.size);
  if (!bytes) return bytes.error();
  read_entries(ByteView(*bytes, place.offset), place, directory);
  check_entries_together(directory);
  return directory;
} catch (const FormatError& defect) {
  return Error{archive.name(), defect.what()};
}

std::vector<ZipDefect> reconcile_local_headers(RandomAccess& archive, const ZipDirectory& directory) {
  std::vector<ZipDefect> defects;
  for (const ZipEntry& entry : directory.entries) {
    const auto bytes = archive.read(entry.local_header, std::min<std::uint64_t>(kLocalSize + entry.name.size(),
                                                                                archive.size() - entry.local_header));
    try {
      if (!bytes) throw FormatError(entry.local_header, "a local header was expected");
      for (ZipDefect& defect : compare_headers(ByteView(*bytes, entry.local_header), entry))
        defects.push_back(std::move(defect));
    } catch (const FormatError& failure) {
      defects.push_back({"local-header-missing", true, entry.name, entry.local_header, failure.what()});
    }
  }
  return defects;
}

Result<Done> stream_member(RandomAccess& archive, const ZipEntry& entry, const ByteSink& sink) try {
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
  if (whole > first && member.verdict() == "the entry's data ends early")
    if (const auto rest = archive.stream(entry.local_header + first,
                                         std::min(whole - first, archive.size() - entry.local_header - first), receive);
        !rest)
      return rest.error();
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
