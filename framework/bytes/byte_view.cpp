#include "framework/bytes/byte_view.h"

#include <bit>

#include <fmt/format.h>

namespace compatrix {

static_assert(std::endian::native == std::endian::little,
              "integers are read as the machine's own, which must be little-endian");

FormatError::FormatError(std::uint64_t offset, const std::string& expected)
    : std::runtime_error(fmt::format("at offset {:#x}: {}", offset, expected)), offset_(offset) {}

std::string_view ByteView::text() const {
  return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
}

void ByteView::refuse_range(std::uint64_t at, std::uint64_t size) const {
  throw FormatError(file_offset_ + at,
                    fmt::format("a range of {} bytes runs past the end of the data ({} bytes are left)", size,
                                at > bytes_.size() ? 0 : bytes_.size() - at));
}

ByteView ByteView::slice(std::uint64_t at, std::uint64_t size) const {
  // Subtract rather than add: at + size may wrap in a hostile file.
  if (at > bytes_.size() || size > bytes_.size() - at) refuse_range(at, size);
  return ByteView(bytes_.subspan(at, size), file_offset_ + at);
}

std::string_view ByteView::c_string(std::uint64_t at) const {
  const std::string_view rest = slice(at, at > size() ? 0 : size() - at).text();
  const std::size_t end = rest.find('\0');
  if (end == std::string_view::npos) throw FormatError(file_offset_ + at, "a string without its terminating NUL");
  return rest.substr(0, end);
}

}  // namespace compatrix
