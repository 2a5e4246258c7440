#include "framework/environment/wheel_library.h"

#include <sys/stat.h>

#include <fmt/format.h>

#include "framework/bytes/mapped_file.h"

namespace compatrix {

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

std::optional<WheelLibrary::OnDisk> WheelLibrary::on_disk(const std::string& path) {
  if (const auto known = on_disk_.find(path); known != on_disk_.end()) return known->second;
  std::optional<OnDisk> found;
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
    found.emplace();
    found->identity = fmt::format("{}:{}", status.st_dev, status.st_ino);
    const auto mapped = MappedFile::open(path);
    const auto elf =
        mapped ? elf::read_elf(path, *mapped) : Result<std::shared_ptr<const elf::ElfFile>>(mapped.error());
    if (elf)
      found->elf = *elf;
    else
      found->defect = elf.error().message;
  }
  on_disk_.emplace(path, found);
  return found;
}

const std::vector<facts::SourceLocation>& WheelLibrary::source_locations_on_disk(const std::string& path) {
  const auto [place, made] = locations_on_disk_.try_emplace(path);
  if (!made) return place->second;
  if (const auto mapped = MappedFile::open(path))
    place->second = facts::source_locations_of((*mapped)->slice(0, (*mapped)->size()).bytes());
  return place->second;
}

}  // namespace compatrix
