#include "framework/environment/wheel_library.h"

#include <cerrno>

#include <sys/stat.h>

#include <fmt/format.h>

#include "framework/bytes/mapped_file.h"

namespace compatrix {
namespace {

WheelLibrary::OnDisk read_on_disk(const std::string& path) {
  WheelLibrary::OnDisk found;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    found.error = errno;
    return found;
  }
  found.identity = fmt::format("{}:{}", status.st_dev, status.st_ino);
  if (!S_ISREG(status.st_mode)) {
    // A folder opens and then can't be read; of a device or a pipe nothing is read here.
    found.acceptance.refusal = S_ISDIR(status.st_mode) ? "cannot read file data: Is a directory" : "file too short";
    return found;
  }
  const auto mapped = MappedFile::open(path);
  if (!mapped) {
    found.error = EACCES;
    return found;
  }
  found.acceptance = elf::examine(**mapped);
  auto elf = elf::read_elf(path, *mapped);
  if (elf)
    found.elf = *elf;
  else
    found.defect = elf.error().message;
  return found;
}

}  // namespace

std::shared_ptr<const facts::WheelFacts> WheelLibrary::wheel(const std::string& sha256) {
  if (const auto known = wheels_.find(sha256); known != wheels_.end()) return known->second;
  auto facts = store_.wheel(sha256);
  if (facts) wheels_.emplace(sha256, facts);
  return facts;
}

std::optional<facts::LibraryFacts> WheelLibrary::library(const std::string& sha256, const std::string& member) {
  const std::pair key(sha256, member);
  if (const auto known = libraries_.find(key); known != libraries_.end()) return known->second;
  auto facts = store_.library(sha256, member);
  if (facts) libraries_.emplace(key, *facts);
  return facts;
}

const WheelLibrary::OnDisk& WheelLibrary::on_disk(const std::string& path) {
  const auto [place, made] = on_disk_.try_emplace(path);
  if (made) place->second = read_on_disk(path);
  return place->second;
}

const std::vector<facts::SourceLocation>& WheelLibrary::source_locations_on_disk(const std::string& path) {
  const auto [place, made] = locations_on_disk_.try_emplace(path);
  if (!made) return place->second;
  if (const auto mapped = MappedFile::open(path))
    place->second = facts::source_locations_of((*mapped)->slice(0, (*mapped)->size()).bytes());
  return place->second;
}

}  // namespace compatrix
