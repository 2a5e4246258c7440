// The one bounds-checked door to untrusted bytes. Every reader goes through a ByteView, so nothing
// else in the project does pointer arithmetic on foreign input; an error names the file offset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace compatrix {

// A defect in foreign bytes. Thrown inside a reader, turned into an Error at its door.
class FormatError : public std::runtime_error {
 public:
  FormatError(std::uint64_t offset, const std::string& expected);
  [[nodiscard]] std::uint64_t offset() const { return offset_; }

 private:
  std::uint64_t offset_;
};

// A window on a file's bytes that remembers where in the file it lies. Does not own the bytes.
// All integers are little-endian; all positions are relative to the window. Throws FormatError.
class ByteView {
 public:
  ByteView() = default;
  explicit ByteView(std::span<const std::byte> bytes, std::uint64_t file_offset = 0)
      : bytes_(bytes), file_offset_(file_offset) {}

  [[nodiscard]] std::uint64_t size() const { return bytes_.size(); }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  [[nodiscard]] std::uint64_t file_offset() const { return file_offset_; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] std::string_view text() const;

  [[nodiscard]] ByteView slice(std::uint64_t at, std::uint64_t size) const;
  [[nodiscard]] std::uint8_t u8(std::uint64_t at) const { return integer<std::uint8_t>(at); }
  [[nodiscard]] std::uint16_t u16(std::uint64_t at) const { return integer<std::uint16_t>(at); }
  [[nodiscard]] std::uint32_t u32(std::uint64_t at) const { return integer<std::uint32_t>(at); }
  [[nodiscard]] std::uint64_t u64(std::uint64_t at) const { return integer<std::uint64_t>(at); }
  // The bytes up to (not including) the next NUL.
  [[nodiscard]] std::string_view c_string(std::uint64_t at) const;

 private:
  // In the header because symbol lookups read millions of integers.
  template <class Integer>
  [[nodiscard]] Integer integer(std::uint64_t at) const {
    if (at > bytes_.size() || bytes_.size() - at < sizeof(Integer)) refuse_range(at, sizeof(Integer));
    Integer value;
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    return value;
  }
  [[noreturn]] void refuse_range(std::uint64_t at, std::uint64_t size) const;

  std::span<const std::byte> bytes_;
  std::uint64_t file_offset_ = 0;
};

// Somewhere that ranges of one file can be had from: a mapped file, the kept part of a stream.
// slice throws FormatError for a range that is not inside the file.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  [[nodiscard]] virtual ByteView slice(std::uint64_t offset, std::uint64_t size) const = 0;
};

}  // namespace compatrix
