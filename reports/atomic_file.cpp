#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "reports/report.h"

namespace compatrix {
namespace {

bool write_all(int descriptor, const std::string& content) {
  for (std::size_t at = 0; at < content.size();) {
    const ssize_t n = ::write(descriptor, content.data() + at, content.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace

Result<Done> write_file_atomically(const std::filesystem::path& file, const std::string& content) {
  std::error_code failure;
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), failure);
  if (failure) return Error{file.string(), "its folder can't be made: " + failure.message()};
  std::string aside = file.string() + ".XXXXXX";
  const int descriptor = mkostemp(aside.data(), O_CLOEXEC);
  if (descriptor < 0) return Error{file.string(), fmt::format("can't be written: {}", std::strerror(errno))};
  const bool written = write_all(descriptor, content) && ::fchmod(descriptor, 0644) == 0 && ::fsync(descriptor) == 0;
  const int cause = errno;
  ::close(descriptor);
  if (written && ::rename(aside.c_str(), file.c_str()) == 0) return Done{};
  const int later_cause = written ? errno : cause;
  ::unlink(aside.c_str());
  return Error{file.string(), fmt::format("can't be written: {}; an older report of this name is untouched",
                                          std::strerror(later_cause))};
}

}  // namespace compatrix
