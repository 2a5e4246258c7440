#include "framework/environment/cell_files.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include <fmt/format.h>

#include "framework/bytes/mapped_file.h"
#include "framework/environment/interpreter.h"
#include "framework/environment/loader_cache.h"

namespace compatrix {
namespace {

constexpr std::uint64_t kLongestText = 4U << 20;

std::uint16_t elf_machine(const std::string& machine) {
  return machine == "aarch64" ? elf::EM_AARCH64 : elf::EM_X86_64;
}

bool is_directory_on_disk(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

}  // namespace

CellFiles::CellFiles(const Environment& environment, WheelLibrary& wheels)
    : environment_(environment),
      wheels_(wheels),
      site_prefix_(environment.site_packages.string() + "/"),
      imagined_root_(site_prefix_.substr(0, site_prefix_.find('/', 1) + 1)),
      loader_cache_(read_loader_cache("/etc/ld.so.cache",
                                      elf_machine(environment.platform.empty() ? environment.machine : kThisMachine))) {
  if (!environment.platform.empty())
    if (auto platform = platform_named(environment.platform)) platform_ = std::move(*platform);
  for (const Distribution& distribution : environment_.distributions)
    if (!distribution.sha256.empty())
      if (auto facts = wheels_.wheel(distribution.sha256)) laid_out_.push_back(std::move(facts));
}

std::optional<std::string> CellFiles::below_site_packages(const std::string& path) const {
  if (environment_.installed || !path.starts_with(site_prefix_)) return std::nullopt;
  return path.substr(site_prefix_.size());
}

bool CellFiles::directory_exists(const std::string& path) const {
  if (const auto inside = below_site_packages(path))
    return std::any_of(laid_out_.begin(), laid_out_.end(),
                       [&](const auto& wheel) { return wheel->has_directory(*inside); });
  // The imagined folders above site-packages are there, and on disk everything that is.
  return (!environment_.installed && (site_prefix_.starts_with(path + "/") || path.empty())) ||
         is_directory_on_disk(path);
}

bool CellFiles::is_on_disk(std::string_view path) const {
  return environment_.installed || !path.starts_with(imagined_root_);
}

bool CellFiles::is_directory(const std::string& path) const {
  if (!path.starts_with('/'))
    return !environment_.working_folder.empty() && is_directory((environment_.working_folder / path).string());
  if (is_on_disk(path)) return !platform_ && is_directory_on_disk(path);
  const auto normal = normalised(path);
  return normal && directory_exists(*normal);
}

std::optional<std::string> CellFiles::normalised(std::string_view path) const {
  std::string normal;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view part = path.substr(at, end - at);
    at = end + 1;
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      if (!directory_exists(normal)) return std::nullopt;
      normal.resize(normal.rfind('/') == std::string::npos ? 0 : normal.rfind('/'));
      continue;
    }
    normal += '/';
    normal += part;
  }
  return normal;
}

std::optional<CellFiles::Resolved> CellFiles::resolve(std::string_view path) const {
  // On disk the kernel walks the path itself, with the links in it.
  if (is_on_disk(path)) return Resolved{.path = std::string(path), .wheel = nullptr, .entry = nullptr};
  const auto normal = normalised(path);
  if (!normal || (!below_site_packages(*normal) && normal->starts_with(imagined_root_))) return std::nullopt;
  Resolved resolved{.path = *normal, .wheel = nullptr, .entry = nullptr};
  if (const auto inside = below_site_packages(*normal)) {
    for (const auto& wheel : laid_out_)
      if (const auto* entry = wheel->find(*inside)) {
        resolved.wheel = wheel;
        resolved.entry = entry;
        return resolved;
      }
    return std::nullopt;
  }
  return resolved;
}

FileAnswer CellFiles::open_on_disk(const std::string& path) {
  const WheelLibrary::OnDisk& file = wheels_.on_disk(path);
  if (file.error != 0) return {.error = file.error};
  return {.state = FileAnswer::State::present,
          .elf = file.elf,
          .defect = file.defect.empty() ? file.acceptance.refusal : file.defect,
          .acceptance = file.acceptance,
          .identity = file.identity,
          .from_system = !(environment_.installed && path.starts_with(site_prefix_))};
}

FileAnswer CellFiles::open(std::string_view path) {
  if (const auto known = answers_.find(std::string(path)); known != answers_.end()) return known->second;
  if (!path.starts_with('/')) {
    if (environment_.working_folder.empty()) return {.error = ENOENT};
    return open((environment_.working_folder / path).string());
  }
  FileAnswer answer{.error = ENOENT};
  if (platform_ && is_on_disk(path) && path != environment_.interpreter.native()) return answer;
  if (const auto resolved = resolve(path)) {
    if (resolved->entry == nullptr) {
      answer = open_on_disk(resolved->path);
    } else if (auto facts = wheels_.library(resolved->wheel->sha256, resolved->entry->name)) {
      answer = {.state = FileAnswer::State::present,
                .elf = facts->elf,
                .defect = facts->defect,
                .acceptance = facts->acceptance,
                .identity = resolved->wheel->sha256 + "/" + resolved->entry->name,
                .from_system = false};
    } else {
      wants_.push_back({.sha256 = resolved->wheel->sha256, .member = resolved->entry->name, .text = false});
      answer.state = FileAnswer::State::wanted;
      answer.identity = resolved->wheel->sha256 + "/" + resolved->entry->name;
      return answer;  // not remembered: it will be known next time
    }
  } else if (is_directory(std::string(path))) {
    answer.state = FileAnswer::State::present;
    answer.defect = answer.acceptance.refusal = "cannot read file data: Is a directory";
  }
  answers_.emplace(path, answer);
  return answer;
}

std::vector<facts::SourceLocation> CellFiles::source_locations(std::string_view path) {
  const auto resolved = resolve(path);
  if (!resolved) return {};
  if (resolved->entry == nullptr) return wheels_.source_locations_on_disk(resolved->path);
  const auto known = wheels_.library(resolved->wheel->sha256, resolved->entry->name);
  return known ? known->source_locations : std::vector<facts::SourceLocation>();
}

std::optional<std::string> CellFiles::read_text(const std::string& path) {
  const auto resolved = resolve(site_prefix_ + path);
  if (!resolved) return std::nullopt;
  if (resolved->entry == nullptr) {
    std::error_code failure;
    if (!std::filesystem::is_regular_file(resolved->path, failure) ||
        std::filesystem::file_size(resolved->path, failure) > kLongestText || failure)
      return std::nullopt;
    return read_small_file(resolved->path);
  }
  if (resolved->entry->size > kLongestText) return std::nullopt;
  auto text = wheels_.store().text(resolved->wheel->sha256, resolved->entry->name);
  if (!text) wants_.push_back({.sha256 = resolved->wheel->sha256, .member = resolved->entry->name, .text = true});
  return text;
}

std::shared_ptr<const elf::ElfFile> CellFiles::kept_interpreter() const {
  const auto facts =
      wheels_.library(interpreter_facts_key(environment_.python, environment_.machine), kInterpreterMember);
  return facts ? facts->elf : nullptr;
}

std::shared_ptr<const elf::ElfFile> CellFiles::library_of_this_machine(std::string_view soname) const {
  const auto found = loader_cache_.find(soname);
  return found == loader_cache_.end() ? nullptr : wheels_.on_disk(found->second).elf;
}

std::optional<std::string> CellFiles::cached_library(std::string_view soname) const {
  if (platform_) return std::nullopt;
  const auto found = loader_cache_.find(soname);
  return found == loader_cache_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<Want> CellFiles::take_wants() {
  std::sort(wants_.begin(), wants_.end());
  wants_.erase(std::unique(wants_.begin(), wants_.end()), wants_.end());
  return std::exchange(wants_, {});
}

}  // namespace compatrix
