// The primitive encoding of stored facts: little-endian integers and length-prefixed byte strings, each padded to
// eight bytes so that tables can be read where they are mapped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "framework/bytes/byte_view.h"

namespace compatrix::facts {

class Encoder {
 public:
  void number(std::uint64_t value) { text_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void bytes(std::string_view bytes) {
    number(bytes.size());
    text_.append(bytes);
    text_.append((8 - bytes.size() % 8) % 8, '\0');
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

class Decoder {
 public:
  explicit Decoder(ByteView view) : view_(view) {}
  std::uint64_t number() {
    const std::uint64_t value = view_.u64(at_);
    at_ += sizeof value;
    return value;
  }
  // A count of items of at least `item_size` bytes each: refused where the rest of the file can't hold them.
  std::uint64_t count(std::uint64_t item_size) {
    const std::uint64_t value = number();
    if (value > (view_.size() - at_) / item_size)
      throw FormatError(view_.file_offset() + at_ - 8, "a smaller count was expected");
    return value;
  }
  ByteView bytes() {
    const std::uint64_t size = number();
    const ByteView slice = view_.slice(at_, size);
    at_ += size + (8 - size % 8) % 8;
    return slice;
  }
  std::string text() { return std::string(bytes().text()); }

 private:
  ByteView view_;
  std::uint64_t at_ = 0;
};

}  // namespace compatrix::facts
