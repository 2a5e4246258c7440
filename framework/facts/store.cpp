#include "framework/facts/store.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "framework/bytes/digest.h"
#include "framework/bytes/mapped_file.h"

namespace compatrix::facts {
namespace {

// Raised whenever the stored form or the rules that fill it change: older facts are then made anew.
constexpr const char* kFormat = "facts-3";

std::string file_stem(const std::string& member) {
  Sha256 digest;
  digest.update(std::as_bytes(std::span(member)));
  return digest.hex().substr(0, 32);
}

}  // namespace

std::filesystem::path FactStore::path(const std::string& sha256, const std::string& member,
                                      const char* extension) const {
  return folder_ / sha256 / (file_stem(member) + extension);
}

std::shared_ptr<const WheelFacts> FactStore::wheel(const std::string& sha256) const {
  const auto file = folder_ / sha256 / "wheel";
  const auto mapped = MappedFile::open(file);
  if (!mapped) return nullptr;
  auto facts = decode_wheel(file.string(), **mapped);
  return facts ? *facts : nullptr;
}

std::optional<LibraryFacts> FactStore::library(const std::string& sha256, const std::string& member) const {
  const auto file = path(sha256, member, ".library");
  const auto mapped = MappedFile::open(file);
  if (!mapped) return std::nullopt;
  auto facts = decode_library(file.string(), *mapped);
  if (!facts) return std::nullopt;
  return *facts;
}

std::optional<std::string> FactStore::text(const std::string& sha256, const std::string& member) const {
  const auto mapped = MappedFile::open(path(sha256, member, ".text"));
  if (!mapped) return std::nullopt;
  return std::string((*mapped)->slice(0, (*mapped)->size()).text());
}

bool FactStore::has_wheel(const std::string& sha256) const {
  std::error_code ignored;
  return std::filesystem::exists(folder_ / sha256 / "wheel", ignored);
}

bool FactStore::has_library(const std::string& sha256, const std::string& member) const {
  return library(sha256, member).has_value();
}

bool FactStore::has_text(const std::string& sha256, const std::string& member) const {
  std::error_code ignored;
  return std::filesystem::exists(path(sha256, member, ".text"), ignored);
}

std::vector<std::string> FactStore::wheels_with_library(const std::string& member) const {
  std::vector<std::string> wheels;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, failure)) {
    std::string sha256 = entry.path().filename().string();
    std::error_code ignored;
    if (std::filesystem::exists(path(sha256, member, ".library"), ignored)) wheels.push_back(std::move(sha256));
  }
  return wheels;
}

Result<Done> FactStore::put_wheel(const WheelFacts& facts) const {
  return put(folder_ / facts.sha256 / "wheel", encode_wheel(facts));
}

Result<Done> FactStore::put_library(const std::string& sha256, const std::string& member,
                                    const std::string& encoded) const {
  return put(path(sha256, member, ".library"), encoded);
}

Result<Done> FactStore::put_text(const std::string& sha256, const std::string& member, const std::string& text) const {
  return put(path(sha256, member, ".text"), text);
}

Result<Done> FactStore::put(const std::filesystem::path& file, const std::string& content) const {
  std::error_code failure;
  std::filesystem::create_directories(file.parent_path(), failure);
  std::string aside = file.string() + ".XXXXXX";
  const int descriptor = failure ? -1 : mkostemp(aside.data(), O_CLOEXEC);
  if (descriptor < 0)
    return Error{file.string(), fmt::format("facts can't be stored here ({}); name another folder with COMPATRIX_CACHE",
                                            failure ? failure.message() : std::strerror(errno))};
  std::size_t written = 0;
  while (written < content.size()) {
    const ssize_t n = ::write(descriptor, content.data() + written, content.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    written += static_cast<std::size_t>(n);
  }
  const int cause = errno;
  ::close(descriptor);
  if (written == content.size() && ::rename(aside.c_str(), file.c_str()) == 0) return Done{};
  ::unlink(aside.c_str());
  return Error{file.string(),
               fmt::format("facts could not be written ({}); make room or name another folder with COMPATRIX_CACHE",
                           std::strerror(cause))};
}

std::filesystem::path default_store_folder() {
  const auto variable = [](const char* name) -> std::filesystem::path {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
  };
  std::filesystem::path cache = variable("COMPATRIX_CACHE");
  if (cache.empty() && !variable("XDG_CACHE_HOME").empty()) cache = variable("XDG_CACHE_HOME") / "compatrix";
  if (cache.empty() && !variable("HOME").empty()) cache = variable("HOME") / ".cache" / "compatrix";
  if (cache.empty()) cache = std::filesystem::temp_directory_path() / fmt::format("compatrix-{}", getuid());
  return cache / kFormat;
}

}  // namespace compatrix::facts
