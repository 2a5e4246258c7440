#include <algorithm>

#include <fmt/format.h>

#include "framework/bytes/mapped_file.h"
#include "framework/checks/run_context.h"
#include "framework/checks/services.h"
#include "framework/environment/ownership.h"
#include "framework/environment/platform.h"
#include "framework/wheel/dist_info.h"

namespace compatrix {
namespace {

const Distribution& distribution_at(compatrix_run* run, std::size_t index) {
  return run->files->environment().distributions.at(index);
}

std::shared_ptr<const facts::WheelFacts> facts_at(compatrix_run* run, std::size_t index) {
  const Distribution& distribution = distribution_at(run, index);
  return distribution.sha256.empty() ? nullptr : run->wheels->wheel(distribution.sha256);
}

const char* python_version(compatrix_run* run) {
  return run->files->environment().python.c_str();
}
const char* machine(compatrix_run* run) {
  return run->files->environment().machine.c_str();
}
const char* interpreter(compatrix_run* run) {
  const Environment& environment = run->files->environment();
  if (!environment.interpreter.empty())
    return run->arena.text(fmt::format("the CPython {} of this machine", environment.python));
  if (run->files->kept_interpreter())
    return run->arena.text(fmt::format("kept facts of a CPython {}, for this machine has none", environment.python));
  return run->arena.text(
      fmt::format("no CPython {} at all: everything that begins with Py counts as there", environment.python));
}
std::size_t distribution_count(compatrix_run* run) {
  return run->files->environment().distributions.size();
}

const compatrix_distribution* distribution(compatrix_run* run, std::size_t index) {
  if (index >= distribution_count(run)) return nullptr;
  if (run->distributions.size() < distribution_count(run)) run->distributions.resize(distribution_count(run));
  if (run->distributions[index] != nullptr) return run->distributions[index];
  const Distribution& d = distribution_at(run, index);
  const auto facts = facts_at(run, index);
  Arena& arena = run->arena;
  const auto text = [&](const std::string& of_wheel, const char* name) {
    return arena.text(facts ? of_wheel : d.dist_info.empty() ? std::string() : read_small_file(d.dist_info / name));
  };
  const std::string none;
  run->distributions[index] = arena.keep(compatrix_distribution{
      .struct_size = sizeof(compatrix_distribution),
      .name = arena.text(d.name),
      .version = arena.text(d.version),
      .requested = d.requested ? 1 : 0,
      .file_name = arena.text(d.file_name),
      .sha256 = arena.text(d.sha256.starts_with("unhashed-") ? none : d.sha256),
      .metadata = text(facts ? facts->metadata : none, "METADATA"),
      .wheel = text(facts ? facts->wheel : none, "WHEEL"),
      .record = text(facts ? facts->record : none, "RECORD"),
  });
  return run->distributions[index];
}

// Files of an installed distribution are those that its RECORD lists and the disk has.
std::vector<std::pair<std::string, std::uint64_t>> installed_files(compatrix_run* run, const Distribution& d) {
  std::vector<std::pair<std::string, std::uint64_t>> files;
  const auto record = wheel::parse_record(read_small_file(d.dist_info / "RECORD"));
  if (!record) return files;
  for (const wheel::RecordEntry& entry : *record) {
    std::error_code failure;
    const auto size = std::filesystem::file_size(run->files->environment().site_packages / entry.path, failure);
    if (!failure) files.emplace_back(entry.path, size);
  }
  return files;
}

const std::vector<compatrix_file>& files_of(compatrix_run* run, std::size_t index) {
  const auto [place, made] = run->files_of.try_emplace(index);
  if (!made) return place->second;
  std::vector<compatrix_file>& files = place->second;
  const auto add = [&](const char* path, std::uint64_t size) {
    files.push_back({.struct_size = sizeof(compatrix_file),
                     .path = path,
                     .size = size,
                     .shared_object = wheel::is_shared_object_name(path) ? 1 : 0});
  };
  if (const auto facts = facts_at(run, index)) {
    // The facts stay in the library for the life of the worker: their paths need no copy.
    files.reserve(facts->files().size());
    for (const auto& [path, entry] : facts->files()) add(path.c_str(), entry->size);
  } else {
    for (auto& [path, size] : installed_files(run, distribution_at(run, index)))
      add(run->arena.text(std::move(path)), size);
  }
  return files;
}

std::size_t file_count(compatrix_run* run, std::size_t distribution) {
  return distribution < distribution_count(run) ? files_of(run, distribution).size() : 0;
}

const compatrix_file* file(compatrix_run* run, std::size_t distribution, std::size_t index) {
  return index < file_count(run, distribution) ? &files_of(run, distribution)[index] : nullptr;
}

const char* read_text(compatrix_run* run, const char* path) {
  std::optional<std::string> text;
  const bool known = run->with_facts([&] { text = run->files->read_text(path); });
  return known && text ? run->arena.text(std::move(*text)) : nullptr;
}

// The archive's own defects, and members that were read and are not what RECORD says.
const std::vector<compatrix_defect>& defects_of(compatrix_run* run, std::size_t index) {
  const auto [place, made] = run->defects_of.try_emplace(index);
  const auto facts = made ? facts_at(run, index) : nullptr;
  if (!facts) return place->second;
  Arena& arena = run->arena;
  for (const wheel::ZipDefect& defect : facts->directory.defects)
    place->second.push_back({.struct_size = sizeof(compatrix_defect),
                             .rule = arena.text(defect.rule),
                             .ambiguous = defect.ambiguous ? 1 : 0,
                             .entry = arena.text(defect.entry),
                             .offset = defect.offset,
                             .message = arena.text(defect.message)});
  if (facts->read_whole) return place->second;
  for (const auto& [path, entry] : facts->files()) {
    if (!wheel::is_shared_object_name(path)) continue;
    const auto library = run->wheels->library(facts->sha256, entry->name);
    if (library && library->record == facts::RecordAgreement::differs)
      place->second.push_back({.struct_size = sizeof(compatrix_defect),
                               .rule = "record-hash-mismatch",
                               .ambiguous = 0,
                               .entry = arena.text(entry->name),
                               .offset = entry->local_header,
                               .message = "the bytes in the archive are not those whose digest RECORD has"});
  }
  return place->second;
}

std::size_t defect_count(compatrix_run* run, std::size_t distribution) {
  return distribution < distribution_count(run) ? defects_of(run, distribution).size() : 0;
}

const compatrix_defect* defect(compatrix_run* run, std::size_t distribution, std::size_t index) {
  return index < defect_count(run, distribution) ? &defects_of(run, distribution)[index] : nullptr;
}

const char* integrity_basis(compatrix_run* run, std::size_t distribution) {
  const auto facts = distribution < distribution_count(run) ? facts_at(run, distribution) : nullptr;
  if (!facts) return "an installed distribution: there is no archive to examine";
  if (facts->read_whole) return "every byte was read and held against CRC and RECORD";
  return "partial read: file list, .dist-info and the shared objects that were needed were read; other members and the "
         "archive's digest are not verified";
}

const std::vector<compatrix_disputed_file>& disputed_of(compatrix_run* run) {
  if (run->disputed) return *run->disputed;
  run->disputed.emplace();
  for (const DisputedFile& file : disputed_files(run->files->environment(), *run->wheels)) {
    auto* owners = run->arena.keep(std::vector<std::size_t>{});
    for (const FileClaim& claim : file.claims) owners->push_back(claim.distribution);
    run->disputed->push_back({.struct_size = sizeof(compatrix_disputed_file),
                              .path = run->arena.text(file.path),
                              .present = file.present ? 1 : 0,
                              .owners = owners->data(),
                              .owner_count = owners->size(),
                              .bytes_of = file.bytes_of.value_or(SIZE_MAX)});
  }
  return *run->disputed;
}

std::size_t disputed_count(compatrix_run* run) {
  return disputed_of(run).size();
}

const compatrix_disputed_file* disputed(compatrix_run* run, std::size_t index) {
  return index < disputed_count(run) ? &disputed_of(run)[index] : nullptr;
}

const char* const* platforms(compatrix_run* run) {
  auto* names = run->arena.keep(std::vector<const char*>{});
  const std::string& machine = run->files->environment().machine;
  for (const std::string& name : known_platforms())
    names->push_back(run->arena.text(machine == "x86_64" ? name : name + "-" + machine));
  names->push_back(nullptr);
  return names->data();
}

int platform_defines(compatrix_run*, const char* name, const char* soname, const char* version) {
  const auto platform = platform_named(name);
  if (!platform) return -1;
  for (const PlatformLibrary& library : platform->libraries)
    if (library.soname == soname) return library.defines(version) ? 1 : 0;
  return -1;
}

}  // namespace

const compatrix_environment_1* environment_service() {
  static constexpr compatrix_environment_1 kService{.struct_size = sizeof(compatrix_environment_1),
                                                    .python_version = &python_version,
                                                    .machine = &machine,
                                                    .interpreter = &interpreter,
                                                    .distribution_count = &distribution_count,
                                                    .distribution = &distribution,
                                                    .file_count = &file_count,
                                                    .file = &file,
                                                    .read_text = &read_text,
                                                    .defect_count = &defect_count,
                                                    .defect = &defect,
                                                    .integrity_basis = &integrity_basis,
                                                    .disputed_count = &disputed_count,
                                                    .disputed = &disputed,
                                                    .platforms = &platforms,
                                                    .platform_defines = &platform_defines};
  return &kService;
}

}  // namespace compatrix
