// Finding the file for a needed name, as glibc's _dl_map_object does (elf/dl-load.c): rpath, LD_LIBRARY_PATH, runpath,
// ld.so.cache, default folders. A file of another class or machine is passed over, one that is no library ends the
// search.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "framework/linker/process.h"

namespace compatrix::linker {
namespace {

constexpr std::array kX86_64Folders{"/lib/x86_64-linux-gnu/", "/usr/lib/x86_64-linux-gnu/", "/lib/", "/usr/lib/"};
constexpr std::array kAarch64Folders{"/lib/aarch64-linux-gnu/", "/usr/lib/aarch64-linux-gnu/", "/lib/", "/usr/lib/"};

const std::array<const char*, 4>& default_folders(std::uint16_t machine) {
  return machine == elf::EM_AARCH64 ? kAarch64Folders : kX86_64Folders;
}

}  // namespace

// One search for one name.
struct Process::Search {
  std::string name;
  std::vector<std::string> tried;  // for the report of a library that is nowhere
  std::optional<Found> found;      // what ended it
  bool other_class = false;        // some file was of another class
  int error = 0;                   // of the last attempt; none was made where there was nothing to look at
  [[nodiscard]] bool ended() const { return found.has_value(); }
};

// Opens one path; the search ends unless the file is absent or passed over.
void Process::attempt(Search& search, const std::string& path) {
  FileAnswer file = files_.open(path);
  if (file.state == FileAnswer::State::absent) {
    search.error = file.error;
    return;
  }
  if (file.state == FileAnswer::State::present && file.acceptance.is_passed_over(machine_)) {
    search.other_class |= file.acceptance.other_class;
    search.error = ENOENT;
    return;
  }
  search.found = Found{path, std::move(file)};
}

// The folder with those of its capability folders that are there, in the order in which they are looked at.
const std::vector<std::string>& Process::with_subfolders(const std::string& folder) {
  const auto [place, made] = subfolders_.try_emplace(folder);
  if (made)
    for (const std::string& subfolder : capabilities_.subfolders)
      if (subfolder.empty() || files_.is_directory(folder + subfolder)) place->second.push_back(folder + subfolder);
  return place->second;
}

void Process::search_in(Search& search, const std::vector<std::string>& folders, const std::string& rule) {
  for (const std::string& folder : folders) {
    if (search.ended()) return;
    for (const std::string& place : with_subfolders(folder)) {
      search.tried.push_back(fmt::format("{}: {}", rule, displayed(place + search.name)));
      attempt(search, place + search.name);
      if (search.ended()) return;
    }
    // A file that is there and can't be opened ends this search path, not the search.
    if (search.error != 0 && search.error != ENOENT && search.error != EACCES && search.error != ENOTDIR) return;
  }
}

void Process::search_rpath(Search& search, int object) {
  const LoadedObject& from = state_.objects[static_cast<std::size_t>(object)];
  if (!from.elf || !from.elf->rpath() || from.elf->rpath()->empty()) return;
  search_in(search, split_search_path(*from.elf->rpath(), ":", from.origin, capabilities_),
            "RPATH of " + name_of(object));
}

// The rpath of the needing object, of the object that needed it, and so on; last the executable's.
void Process::search_rpaths(Search& search, int loader) {
  bool executable_seen = false;
  for (int at = loader; at >= 0 && !search.ended(); at = state_.objects[static_cast<std::size_t>(at)].loader) {
    executable_seen |= state_.objects[static_cast<std::size_t>(at)].executable;
    search_rpath(search, at);
  }
  if (!executable_seen && !search.ended()) search_rpath(search, 0);
}

void Process::search_library_path(Search& search) {
  std::string joined;
  for (const auto& folder : files_.environment().library_path) joined += (joined.empty() ? "" : ":") + folder.string();
  if (joined.empty()) return;
  search_in(search, split_search_path(joined, ":;", state_.objects.front().origin, capabilities_), "LD_LIBRARY_PATH");
}

void Process::search_system(Search& search, bool without_defaults) {
  if (files_.platform()) {
    search.tried.push_back(fmt::format("{}: only its C and C++ runtimes count as there", files_.platform()->name));
    search.error = ENOENT;  // of the folders that the system would have
    return;
  }
  const auto& folders = default_folders(machine_);
  const auto is_default = [&](const std::string& path) {
    return std::any_of(folders.begin(), folders.end(), [&](const char* folder) { return path.starts_with(folder); });
  };
  const auto cached = files_.cached_library(search.name);
  search.tried.push_back("ld.so.cache: " + cached.value_or("no entry"));
  if (cached && !(without_defaults && is_default(*cached))) attempt(search, *cached);
  if (!search.ended() && !without_defaults) search_in(search, {folders.begin(), folders.end()}, "default");
}

void Process::search_everywhere(Search& search, int loader) {
  const LoadedObject& needing = state_.objects[static_cast<std::size_t>(loader)];
  const bool has_runpath = needing.elf && needing.elf->runpath().has_value();
  if (!has_runpath) search_rpaths(search, loader);
  if (!search.ended()) search_library_path(search);
  if (!search.ended() && has_runpath && !needing.elf->runpath()->empty())
    search_in(search, split_search_path(*needing.elf->runpath(), ":", needing.origin, capabilities_),
              "RUNPATH of " + name_of(loader));
  if (!search.ended()) search_system(search, needing.elf && needing.elf->no_default_libraries());
}

std::optional<Process::Found> Process::search(const std::string& name, int loader) {
  Search search{.name = name};
  if (name.find('/') != std::string::npos) {
    search.tried.push_back("path: " + displayed(name));
    attempt(search, name);
  } else {
    search_everywhere(search, loader);
  }
  if (search.found) {
    const elf::Acceptance& acceptance = search.found->file.acceptance;
    if (search.found->file.state == FileAnswer::State::wanted || acceptance.refusal.empty()) return search.found;
    refuse(name, search.found->path, acceptance.refusal);
    return std::nullopt;
  }
  if (std::any_of(assumed_.begin(), assumed_.end(), [&](const AssumedLibrary& a) { return a.soname == name; }))
    return std::nullopt;
  missing_.push_back(name);
  if (search.other_class) {
    refuse(name, name, "wrong ELF class: ELFCLASS32");
    return std::nullopt;
  }
  report({.kind = ProblemKind::library_not_found,
          .object = loader < 0 ? "" : name_of(loader),
          .library = name,
          .searched = std::move(search.tried),
          .message = fmt::format("{}: cannot open shared object file{}", displayed(name),
                                 search.error == 0 ? "" : fmt::format(": {}", std::strerror(search.error)))},
         Outcome::fails);
  return std::nullopt;
}

// The loader's refusal of a file for the needed name; `shown` is what its message begins with.
void Process::refuse(const std::string& name, const std::string& shown, const std::string& words) {
  missing_.push_back(name);
  report({.kind = ProblemKind::bad_file,
          .object = displayed(shown),
          .library = name,
          .message = fmt::format("{}: {}", displayed(shown), words)},
         Outcome::fails);
}

}  // namespace compatrix::linker
