#include <algorithm>

#include "framework/checks/run_context.h"
#include "framework/checks/services.h"
#include "framework/wheel/dist_info.h"

namespace compatrix {
namespace {

bool is_for(const wheel::WheelName& name, const std::string& machine) {
  return std::any_of(name.tags.begin(), name.tags.end(), [&](const wheel::Tag& tag) {
    return tag.platform == "any" || tag.platform.ends_with("_" + machine);
  });
}

std::vector<KnownRelease>& releases_of(compatrix_run* run, const char* project, const char* library) {
  const auto [place, made] = run->releases.try_emplace({project, library});
  std::vector<KnownRelease>& releases = place->second;
  if (!made) return releases;
  for (const std::string& sha256 : run->wheels->store().wheels_with_library(library)) {
    auto facts = run->wheels->wheel(sha256);
    const auto name = facts ? wheel::parse_wheel_name(facts->file_name) : Error{};
    if (!name || wheel::normalise_project(name->project) != project ||
        !is_for(*name, run->files->environment().machine))
      continue;
    if (auto version = Version::parse(name->version); version)
      releases.push_back({.version = *version, .text = name->version, .wheel = std::move(facts), .libraries = {}});
  }
  // Builds of one release for several interpreters say the same.
  std::sort(releases.begin(), releases.end(), [](const KnownRelease& a, const KnownRelease& b) {
    return a.version != b.version ? a.version < b.version : a.wheel->sha256 < b.wheel->sha256;
  });
  releases.erase(std::unique(releases.begin(), releases.end(),
                             [](const KnownRelease& a, const KnownRelease& b) { return a.version == b.version; }),
                 releases.end());
  return releases;
}

std::size_t count(compatrix_run* run, const char* project, const char* library) {
  return releases_of(run, project, library).size();
}

const char* version(compatrix_run* run, const char* project, const char* library, std::size_t index) {
  const std::vector<KnownRelease>& releases = releases_of(run, project, library);
  return index < releases.size() ? releases[index].text.c_str() : nullptr;
}

// The kept library of a release, or null.
std::shared_ptr<const elf::ElfFile> library_of(compatrix_run* run, const char* project, const char* library,
                                               std::size_t index, const char* member) {
  std::vector<KnownRelease>& releases = releases_of(run, project, library);
  if (index >= releases.size()) return nullptr;
  KnownRelease& release = releases[index];
  if (const auto known = release.libraries.find(std::string_view(member)); known != release.libraries.end())
    return known->second;
  std::shared_ptr<const elf::ElfFile> file;
  if (const wheel::ZipEntry* entry = release.wheel->find(member))
    if (const auto facts = run->wheels->library(release.wheel->sha256, entry->name)) file = facts->elf;
  return release.libraries.emplace(member, std::move(file)).first->second;
}

// The first definition of a symbol, or nothing.
std::optional<elf::Symbol> definition(const elf::ElfFile& file, const char* symbol) try {
  std::vector<std::uint32_t> found;
  file.find(symbol, elf::gnu_hash(symbol), found);
  for (const std::uint32_t index : found)
    if (const elf::Symbol defined = file.symbol(index); !defined.undefined()) return defined;
  return std::nullopt;
} catch (const FormatError&) {  // a hash table that leads out of the file defines nothing
  return std::nullopt;
}

int defines(compatrix_run* run, const char* project, const char* library, std::size_t index, const char* member,
            const char* symbol) {
  const auto file = library_of(run, project, library, index, member);
  if (!file) return -1;
  return definition(*file, symbol) ? 1 : 0;
}

std::uint64_t object_size(compatrix_run* run, const char* project, const char* library, std::size_t index,
                          const char* member, const char* symbol) {
  const auto file = library_of(run, project, library, index, member);
  const auto defined = file ? definition(*file, symbol) : std::nullopt;
  return defined && defined->type == elf::STT_OBJECT ? defined->size : 0;
}

}  // namespace

const compatrix_releases_1* releases_service() {
  static constexpr compatrix_releases_1 kService{.struct_size = sizeof(compatrix_releases_1),
                                                 .count = &count,
                                                 .version = &version,
                                                 .defines = &defines,
                                                 .object_size = &object_size};
  return &kService;
}

}  // namespace compatrix
