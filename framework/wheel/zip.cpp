#include "framework/wheel/zip.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <unordered_set>

#include <fmt/format.h>

#include "framework/base/text.h"
#include "framework/bytes/byte_view.h"
#include "framework/wheel/zip_format.h"

namespace compatrix::wheel {
namespace {

using namespace zip;

// A range of the archive with its place in it.
Result<std::pair<std::vector<std::byte>, std::uint64_t>> read_tail(RandomAccess& archive) {
  const std::uint64_t size = archive.size();
  const std::uint64_t length = std::min(size, kEndSize + kLongestComment + kLocatorSize + kEnd64Size);
  auto bytes = archive.read(size - length, length);
  if (!bytes) return bytes.error();
  return std::pair(std::move(*bytes), size - length);
}

// Where an end record may stand: its comment must end exactly at the end of the file. The last one counts; a second one
// is a comment that was made to look like an archive's end.
std::vector<std::uint64_t> find_ends(const ByteView& tail) {
  std::vector<std::uint64_t> ends;
  if (tail.size() < kEndSize) return ends;
  for (std::uint64_t at = tail.size() - kEndSize + 1; at-- > 0;)
    if (tail.u32(at) == kEndOfDirectory && at + kEndSize + tail.u16(at + 20) == tail.size()) ends.push_back(at);
  return ends;
}

// The place that the ZIP64 records name; the end record's own fields must say the same or that they can't.
DirectoryPlace place64_of(const ByteView& tail, std::uint64_t end, const DirectoryPlace& place,
                          std::vector<ZipDefect>& defects) {
  const std::uint64_t end_at = tail.file_offset() + end;
  const ByteView locator = tail.slice(end - kLocatorSize, kLocatorSize);
  const std::uint64_t end64 = locator.u64(8);
  if (end64 < tail.file_offset() || end64 + kEnd64Size != end_at - kLocatorSize ||
      tail.u32(end64 - tail.file_offset()) != kEndOfDirectory64)
    throw FormatError(locator.file_offset(), "the ZIP64 locator does not lead to a ZIP64 end record just before it");
  const ByteView record = tail.slice(end64 - tail.file_offset(), kEnd64Size);
  if (record.u64(4) != kEnd64Size - 12 || record.u32(16) != 0 || record.u32(20) != 0 ||
      record.u64(24) != record.u64(32) || locator.u32(4) != 0 || locator.u32(16) != 1)
    defects.push_back({"zip64-end-record", true, "", end64, "the ZIP64 end record has another size or several parts"});
  const auto same = [](std::uint64_t narrow, std::uint64_t wide, std::uint64_t unknown) {
    return narrow == unknown || narrow == wide;
  };
  if (!same(place.offset, record.u64(48), 0xffffffff) || !same(place.size, record.u64(40), 0xffffffff) ||
      !same(place.count, record.u64(32), 0xffff))
    defects.push_back({"end-records-differ", true, "", end_at, "the two end records name different directories"});
  return {.offset = record.u64(48), .size = record.u64(40), .count = record.u64(32), .end = end64};
}

DirectoryPlace place_of(const ByteView& tail, std::uint64_t end, std::vector<ZipDefect>& defects) {
  const std::uint64_t end_at = tail.file_offset() + end;
  const DirectoryPlace place{
      .offset = tail.u32(end + 16), .size = tail.u32(end + 12), .count = tail.u16(end + 10), .end = end_at};
  if (tail.u16(end + 20) != 0)
    defects.push_back(
        {"archive-comment", false, "", end_at, "the archive has a comment, which wheels have no use for"});
  if (tail.u16(end + 4) != 0 || tail.u16(end + 6) != 0 || tail.u16(end + 8) != tail.u16(end + 10))
    throw FormatError(end_at, "an archive in one part was expected");
  if (end >= kLocatorSize && tail.u32(end - kLocatorSize) == kLocator64) return place64_of(tail, end, place, defects);
  if (place.offset == 0xffffffff || place.size == 0xffffffff || place.count == 0xffff)
    throw FormatError(end_at, "a ZIP64 end record was expected before the end record");
  return place;
}

// Sizes and offset that do not fit their 32-bit fields, from the extra field 0x0001.
void apply_zip64(const ByteView& field, ZipEntry& entry) {
  std::uint64_t next = 0;
  for (std::uint64_t* value : {&entry.size, &entry.compressed_size, &entry.local_header})
    if (*value == 0xffffffff) {
      *value = field.u64(next);
      next += 8;
    }
}

// The extra fields of a central header. One that stands twice is read differently by different readers.
void read_extra_fields(const ByteView& extra, ZipEntry& entry, std::vector<ZipDefect>& defects) {
  const bool needs64 =
      entry.size == 0xffffffff || entry.compressed_size == 0xffffffff || entry.local_header == 0xffffffff;
  const auto defect = [&](const char* rule, bool ambiguous, const std::string& message) {
    defects.push_back({rule, ambiguous, entry.name, extra.file_offset(), message});
  };
  std::set<std::uint16_t> met;
  std::uint64_t at = 0;
  while (at + 4 <= extra.size() && extra.u16(at + 2) <= extra.size() - at - 4) {
    const std::uint16_t id = extra.u16(at), size = extra.u16(at + 2);
    const bool fresh = met.insert(id).second;
    if (id == kZip64Field && fresh) apply_zip64(extra.slice(at + 4, size), entry);
    if ((id == kZip64Field || id == kUnicodePathField) && !fresh)
      defect("duplicate-extra-field", true, fmt::format("the extra field {:#06x} stands there twice", id));
    at += std::uint64_t{4} + size;
  }
  if (at != extra.size()) defect("extra-field", false, "the extra fields end in the middle of one");
  if (needs64 && !met.contains(kZip64Field))
    defect("zip64-field-missing", true, "the entry refers to a ZIP64 field that it does not have");
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
  if (entry.name.empty() || has_control_characters(entry.name) || visible_utf8(entry.name) != entry.name)
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
    read_extra_fields(whole.slice(kCentralSize + name, extra), entry, directory.defects);
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

// The path that a name leads to: "a//b" and "./a/b" are a/b.
std::string plain_path(std::string_view name) {
  std::string path;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    const std::string_view part = name.substr(at, end - at);
    if (!part.empty() && part != ".") path += (path.empty() ? "" : "/") + std::string(part);
    at = end + 1;
  }
  return path;
}

std::string without_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// Names that lead to one file, or to a file where another name needs a folder.
void check_names(ZipDirectory& directory) {
  std::unordered_set<std::string> names, paths, files, caseless;
  for (const ZipEntry& entry : directory.entries) {
    const auto defect = [&](const char* rule, bool ambiguous, const char* message) {
      directory.defects.push_back({rule, ambiguous, entry.name, entry.local_header, message});
    };
    const std::string path = plain_path(entry.name);
    if (!entry.name.ends_with('/')) files.insert(path);
    const bool new_name = names.insert(entry.name).second, new_path = paths.insert(path).second;
    if (!new_name) {
      defect("duplicate-entry", true, "two entries have this name");
    } else if (!new_path) {
      defect("colliding-names", true, "another entry's name leads to the same file");
    } else if (!caseless.insert(without_case(path)).second) {
      defect("colliding-names", false, "another entry's name differs in upper and lower case only");
    }
  }
  for (const ZipEntry& entry : directory.entries)
    for (std::size_t slash = entry.name.find('/'); slash != std::string::npos; slash = entry.name.find('/', slash + 1))
      if (slash != 0 && files.contains(plain_path(entry.name.substr(0, slash)))) {
        directory.defects.push_back({"file-and-folder", true, entry.name, entry.local_header,
                                     "the entry lies in a folder whose name is another entry's file"});
        break;
      }
}

void check_overlaps(ZipDirectory& directory) {
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

}  // namespace

Result<zip::DirectoryPlace> zip::find_directory(RandomAccess& archive, std::vector<ZipDefect>& defects) {
  auto tail = read_tail(archive);
  if (!tail) return tail.error();
  const ByteView view(tail->first, tail->second);
  const std::vector<std::uint64_t> ends = find_ends(view);
  if (ends.empty())
    return Error{archive.name(),
                 fmt::format("is no whole ZIP archive: the end of the central directory was expected in its last bytes "
                             "({} bytes in all); it was cut off or is another kind of file",
                             archive.size())};
  if (ends.size() > 1)
    defects.push_back(
        {"several-end-records", true, "", view.file_offset() + ends.back(), "the archive has more than one end"});
  const DirectoryPlace place = place_of(view, ends.front(), defects);
  if (place.offset > place.end || place.size != place.end - place.offset || place.size > kLargestDirectory)
    return Error{
        archive.name(),
        fmt::format("at offset {:#x}: a central directory of {} bytes at {:#x} was expected to end here; the archive "
                    "was cut, joined or changed",
                    place.end, place.size, place.offset)};
  return place;
}

std::string dist_info_folder(const ZipDirectory& directory) {
  for (const ZipEntry& entry : directory.entries) {
    const std::size_t slash = entry.name.find('/');
    if (slash != std::string::npos && std::string_view(entry.name).substr(0, slash).ends_with(".dist-info"))
      return entry.name.substr(0, slash + 1);
  }
  return {};
}

Result<ZipDirectory> read_zip_directory(RandomAccess& archive) try {
  ZipDirectory directory;
  const auto place = zip::find_directory(archive, directory.defects);
  if (!place) return place.error();
  auto bytes = archive.read(place->offset, place->size);
  if (!bytes) return bytes.error();
  read_entries(ByteView(*bytes, place->offset), *place, directory);
  check_names(directory);
  check_overlaps(directory);
  return directory;
} catch (const FormatError& defect) {
  return Error{archive.name(), defect.what()};
}

}  // namespace compatrix::wheel
