// The part of a streamed file that a reader will want: its beginning, its end, and the ranges asked for. An ELF file's
// tables lie at both ends, the gigabytes of device code between them are passed over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "framework/bytes/byte_view.h"

namespace compatrix::facts {

// Asked for a range that was not kept: stream the file again and keep it.
struct BytesNotKept {
  std::uint64_t offset = 0, size = 0;
};

class KeptBytes : public ByteSource {
 public:
  struct Limits {
    std::uint64_t beginning = 48U << 20;
    std::uint64_t end = 32U << 20;
  };

  // Begins with the limits and the ranges `also`.
  KeptBytes(std::uint64_t size, Limits limits, const std::vector<BytesNotKept>& also);

  // Keeps these ranges and nothing else: memory is given back, what of them has passed already is taken from what was
  // kept until now.
  void keep_only(const std::vector<BytesNotKept>& ranges);
  // The next piece of the stream.
  void append(std::span<const std::byte> piece);

  [[nodiscard]] std::uint64_t position() const { return at_; }
  [[nodiscard]] std::uint64_t size() const override { return size_; }
  // Throws BytesNotKept for a range of the file that is not at hand.
  [[nodiscard]] ByteView slice(std::uint64_t offset, std::uint64_t size) const override;

 private:
  struct Range {
    std::uint64_t offset = 0, size = 0;
    std::vector<std::byte> bytes;
  };
  std::uint64_t size_;
  std::uint64_t at_ = 0;  // position in the stream
  std::vector<Range> ranges_;
};

}  // namespace compatrix::facts
