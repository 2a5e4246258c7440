#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "framework/bytes/random_access.h"

namespace compatrix {
namespace {

constexpr std::uint64_t kPiece = 1U << 20;

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
    for (std::uint64_t at = 0; at < length;) {
      const ssize_t n = ::pread(descriptor_, bytes.data() + at, length - at, static_cast<off_t>(offset + at));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return Error{name_, fmt::format("can't be read at offset {}: {}", offset + at, std::strerror(errno))};
      if (n == 0)
        return Error{name_, fmt::format("became shorter while it was read: it ends at offset {}", offset + at)};
      at += static_cast<std::uint64_t>(n);
    }
    return bytes;
  }

  Result<Done> stream(std::uint64_t offset, std::uint64_t length, const ByteSink& sink) override {
    for (std::uint64_t at = 0; at < length;) {
      const auto piece = read(offset + at, std::min(kPiece, length - at));
      if (!piece) return piece.error();
      if (!sink(*piece)) return Done{};
      at += piece->size();
    }
    return Done{};
  }

 private:
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
