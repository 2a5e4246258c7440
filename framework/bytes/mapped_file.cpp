#include "framework/bytes/mapped_file.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace compatrix {

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::filesystem::path& path) {
  const auto refuse = [&](const std::string& why) { return Error{path.string(), why}; };
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return refuse(std::string("can't be opened: ") + std::strerror(errno));
  struct stat status {};
  const bool known = ::fstat(descriptor, &status) == 0;
  if (!known || !S_ISREG(status.st_mode)) {
    ::close(descriptor);
    return refuse("is not a regular file");
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  void* mapping = size == 0 ? nullptr : ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  const int cause = errno;
  ::close(descriptor);
  if (mapping == MAP_FAILED) return refuse(std::string("can't be mapped: ") + std::strerror(cause));
  return std::shared_ptr<const MappedFile>(new MappedFile({static_cast<const std::byte*>(mapping), size}));
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

std::string read_small_file(const std::filesystem::path& path) {
  constexpr std::uint64_t kLargest = 64U << 20;
  const auto mapped = MappedFile::open(path);
  if (!mapped || (*mapped)->size() > kLargest) return {};
  return std::string((*mapped)->slice(0, (*mapped)->size()).text());
}

}  // namespace compatrix
