#include "framework/facts/kept_bytes.h"

#include <algorithm>

#include <fmt/format.h>

namespace compatrix::facts {

KeptBytes::KeptBytes(std::uint64_t size, Limits limits, const std::vector<BytesNotKept>& also) : size_(size) {
  if (size <= limits.beginning + limits.end) {
    ranges_.push_back({.offset = 0, .size = size, .bytes = {}});
    return;
  }
  ranges_.push_back({.offset = 0, .size = limits.beginning, .bytes = {}});
  ranges_.push_back({.offset = size - limits.end, .size = limits.end, .bytes = {}});
  for (const BytesNotKept& range : also)
    if (range.offset < size_)
      ranges_.push_back({.offset = range.offset, .size = std::min(range.size, size_ - range.offset), .bytes = {}});
}

void KeptBytes::keep_only(const std::vector<BytesNotKept>& ranges) {
  std::vector<Range> chosen;
  for (const BytesNotKept& range : ranges) {
    if (range.offset >= size_) continue;
    Range next{.offset = range.offset, .size = std::min(range.size, size_ - range.offset), .bytes = {}};
    if (range.offset < at_) {
      const std::uint64_t passed = std::min(next.size, at_ - range.offset);
      const auto had = std::find_if(ranges_.begin(), ranges_.end(), [&](const Range& old) {
        return old.offset <= range.offset && range.offset + passed <= old.offset + old.bytes.size();
      });
      if (had == ranges_.end()) continue;
      const auto begin = had->bytes.begin() + static_cast<std::ptrdiff_t>(range.offset - had->offset);
      next.bytes.assign(begin, begin + static_cast<std::ptrdiff_t>(passed));
    }
    chosen.push_back(std::move(next));
  }
  ranges_ = std::move(chosen);
}

void KeptBytes::append(std::span<const std::byte> piece) {
  for (Range& range : ranges_) {
    const std::uint64_t begin = std::max(range.offset, at_),
                        end = std::min(range.offset + range.size, at_ + piece.size());
    if (begin < end) {
      const auto part = piece.subspan(begin - at_, end - begin);
      range.bytes.reserve(range.size);  // once: growing would copy, and hold twice as much meanwhile
      range.bytes.insert(range.bytes.end(), part.begin(), part.end());
    }
  }
  at_ += piece.size();
}

ByteView KeptBytes::slice(std::uint64_t offset, std::uint64_t size) const {
  if (offset > size_ || size > size_ - offset)
    throw FormatError(offset, fmt::format("a range of {} bytes runs past the end of the file ({} bytes)", size, size_));
  for (const Range& range : ranges_)
    if (offset >= range.offset && offset - range.offset <= range.bytes.size() &&
        size <= range.bytes.size() - (offset - range.offset))
      return ByteView(std::span(range.bytes).subspan(offset - range.offset, size), offset);
  throw BytesNotKept{offset, size};
}

}  // namespace compatrix::facts
