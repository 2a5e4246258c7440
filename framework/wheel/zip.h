// ZIP archives as wheels are (APPNOTE 6.3, PEP 427), read strictly: the central directory first; every rule that
// makes an archive ambiguous between readers is a defect with its entry and offset. Members are inflated as a
// stream, never beyond their declared size.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "framework/base/result.h"
#include "framework/bytes/random_access.h"

namespace compatrix::wheel {

struct ZipEntry {
  std::string name;
  std::uint64_t compressed_size = 0;
  std::uint64_t size = 0;
  std::uint64_t local_header = 0;  // offset in the archive
  std::uint32_t crc32 = 0;
  std::uint16_t method = 0;  // 0 stored, 8 deflated
  std::uint16_t flags = 0;
  std::uint32_t external_attributes = 0;
};

struct ZipDefect {
  std::string rule;  // lower-kebab-case
  bool ambiguous = false;
  std::string entry;
  std::uint64_t offset = 0;
  std::string message;
};

struct ZipDirectory {
  std::vector<ZipEntry> entries;  // in the order of the central directory
  std::vector<ZipDefect> defects;
};

// The one .dist-info folder of a wheel (PEP 427), with its slash; empty where there is none.
std::string dist_info_folder(const ZipDirectory& directory);

// Reads the end-of-central-directory record (and ZIP64's) and the central directory: two or three range reads.
// An archive whose directory cannot be trusted at all is an Error; lesser faults are defects.
Result<ZipDirectory> read_zip_directory(RandomAccess& archive);

// Reconciles every local header with its central entry and looks for bytes that belong to no entry. For archives whose
// bytes are at hand: it reads all over the file.
std::vector<ZipDefect> reconcile_local_headers(RandomAccess& archive, const ZipDirectory& directory);

// Inflates one member in order, in pieces. Its local header is reconciled first; at the end size and CRC must agree
// with the directory (unless the sink stopped early). Errors name archive, entry and offset.
Result<Done> stream_member(RandomAccess& archive, const ZipEntry& entry, const ByteSink& sink);

// A whole member as text; an Error when it is larger than `limit` bytes.
Result<std::string> read_member(RandomAccess& archive, const ZipEntry& entry, std::uint64_t limit);

}  // namespace compatrix::wheel
