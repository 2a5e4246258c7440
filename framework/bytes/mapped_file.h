// A regular file of this machine, mapped for reading. Facts and libraries are used where they lie, without a copy.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "framework/base/result.h"
#include "framework/bytes/byte_view.h"

namespace compatrix {

class MappedFile : public ByteSource {
 public:
  // The Error says why a path can't be mapped: not there, no regular file, no permission.
  static Result<std::shared_ptr<const MappedFile>> open(const std::filesystem::path& path);
  ~MappedFile() override;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  [[nodiscard]] ByteView slice(std::uint64_t offset, std::uint64_t size) const override {
    return ByteView(bytes_).slice(offset, size);
  }

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> bytes_;
};

// A text of at most 64 MiB; empty where there is no such file or it can't be read.
std::string read_small_file(const std::filesystem::path& path);

}  // namespace compatrix
