// Bytes in memory as a source of ranges: facts that never reached a disk, files that tests make up.
#pragma once

#include <string>
#include <utility>

#include "framework/bytes/byte_view.h"

namespace compatrix {

class OwnedBytes : public ByteSource {
 public:
  explicit OwnedBytes(std::string bytes) : bytes_(std::move(bytes)) {}
  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  [[nodiscard]] ByteView slice(std::uint64_t offset, std::uint64_t size) const override {
    return ByteView(std::as_bytes(std::span(bytes_))).slice(offset, size);
  }

 private:
  std::string bytes_;
};

}  // namespace compatrix
