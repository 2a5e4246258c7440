// Writes wheels, and archives that are wrong in one way, byte for byte.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace support {

struct ArchiveEntry {
  std::string name, content;
  std::uint16_t flags = 0;
  std::uint32_t external_attributes = 0;
  std::uint32_t crc_change = 0;  // added to the CRC in both headers
  std::string local_name;        // in the local header, where it is to differ
  std::int64_t size_change = 0;  // added to both sizes in the central header
  bool deflated = false;
  std::uint16_t claimed_method = 0;        // in both headers, where not 0
  std::string local_extra, central_extra;  // extra fields
  std::string behind;                      // bytes between the data and what comes next
};

// An archive; `comment` is the archive's.
std::string write_archive(const std::vector<ArchiveEntry>& entries, const std::string& comment = "");

// The files of a whole wheel: METADATA, WHEEL and a RECORD that is right. Further METADATA lines may be given.
std::vector<ArchiveEntry> wheel_entries(const std::string& name, const std::string& version, const std::string& tag,
                                        std::vector<ArchiveEntry> files, const std::string& metadata_lines = "");

// name-version-tag.whl's content.
std::string write_wheel(const std::string& name, const std::string& version, const std::string& tag,
                        const std::vector<ArchiveEntry>& files, const std::string& metadata_lines = "");

}  // namespace support
