// The layout of ZIP archives (APPNOTE 6.3), for the readers of the directory and of the members.
#pragma once

#include <cstdint>

#include "framework/base/result.h"
#include "framework/wheel/zip.h"

namespace compatrix::wheel::zip {

inline constexpr std::uint32_t kEndOfDirectory = 0x06054b50, kEndOfDirectory64 = 0x06064b50, kLocator64 = 0x07064b50,
                               kCentralHeader = 0x02014b50, kLocalHeader = 0x04034b50;
inline constexpr std::uint64_t kEndSize = 22, kLocatorSize = 20, kEnd64Size = 56, kCentralSize = 46, kLocalSize = 30;
inline constexpr std::uint64_t kLongestComment = 65535;
inline constexpr std::uint64_t kLargestDirectory = 256U << 20;  // torch's is about 2 MB
inline constexpr std::uint16_t kStored = 0, kDeflated = 8;
inline constexpr std::uint16_t kEncrypted = 1, kDataDescriptor = 8;
inline constexpr std::uint16_t kZip64Field = 0x0001, kUnicodePathField = 0x7075;
inline constexpr std::uint32_t kDescriptor = 0x08074b50;

// Where the central directory lies, by the end records.
struct DirectoryPlace {
  std::uint64_t offset = 0, size = 0, count = 0;
  std::uint64_t end = 0;  // offset of the first end record
};

// Reads the end records; what is odd about them is added to `defects`. Throws FormatError.
Result<DirectoryPlace> find_directory(RandomAccess& archive, std::vector<ZipDefect>& defects);

}  // namespace compatrix::wheel::zip
