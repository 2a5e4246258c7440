#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "framework/bytes/random_access.h"

namespace compatrix {
namespace {

constexpr std::uint64_t kPiece = 256U << 10;  // small enough that what was copied is still in the CPU's cache

class LocalFile : public RandomAccess {
 public:
  LocalFile(std::string name, int descriptor, std::uint64_t size)
      : name_(std::move(name)), descriptor_(descriptor), size_(size) {}
  ~LocalFile() override { ::close(descriptor_); }
  LocalFile(const LocalFile&) = delete;
  LocalFile& operator=(const LocalFile&) = delete;

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] std::uint64_t size() const override { return size_; }

  Result<std::vector<std::byte>> read(std::uint64_t offset, std::uint64_t length) override {
    if (offset > size_ || length > size_ - offset)
      return Error{name_,
                   fmt::format("{} bytes were expected at offset {}, the file ends at {}", length, offset, size_)};
    std::vector<std::byte> bytes(length);
    if (auto filled = fill(offset, bytes); !filled) return filled.error();
    return bytes;
  }

  Result<Done> stream(std::uint64_t offset, std::uint64_t length, const ByteSink& sink) override {
    if (offset > size_ || length > size_ - offset)
      return Error{name_,
                   fmt::format("{} bytes were expected at offset {}, the file ends at {}", length, offset, size_)};
    const std::uint64_t room = std::min(kPiece, length);
    const auto buffer = std::make_unique_for_overwrite<std::byte[]>(room);
    for (std::uint64_t at = 0; at < length;) {
      const std::span piece(buffer.get(), std::min(room, length - at));
      if (auto filled = fill(offset + at, piece); !filled) return filled.error();
      if (!sink(piece)) return Done{};
      at += piece.size();
    }
    return Done{};
  }

 private:
  Result<Done> fill(std::uint64_t offset, std::span<std::byte> bytes) {
    for (std::uint64_t at = 0; at < bytes.size();) {
      const ssize_t n = ::pread(descriptor_, bytes.data() + at, bytes.size() - at, static_cast<off_t>(offset + at));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return Error{name_, fmt::format("can't be read at offset {}: {}", offset + at, std::strerror(errno))};
      if (n == 0)
        return Error{name_, fmt::format("became shorter while it was read: it ends at offset {}", offset + at)};
      at += static_cast<std::uint64_t>(n);
    }
    return Done{};
  }

  std::string name_;
  int descriptor_;
  std::uint64_t size_;
};

}  // namespace

Result<std::shared_ptr<RandomAccess>> open_local_file(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return Error{path.string(), std::string("can't be opened: ") + std::strerror(errno)};
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor);
    return Error{path.string(), "is not a regular file"};
  }
  return std::shared_ptr<RandomAccess>(
      std::make_shared<LocalFile>(path.string(), descriptor, static_cast<std::uint64_t>(status.st_size)));
}

}  // namespace compatrix
