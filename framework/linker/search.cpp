// Finding the file for a needed name, as glibc's _dl_map_object does (elf/dl-load.c): already loaded objects first,
// then rpath, LD_LIBRARY_PATH, runpath, ld.so.cache, default folders.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "framework/linker/process.h"

namespace compatrix::linker {
namespace {

constexpr std::array kX86_64Folders{"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib", "/usr/lib"};
constexpr std::array kAarch64Folders{"/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/lib", "/usr/lib"};

std::string replace_token(std::string path, std::string_view token, const std::string& value) {
  for (const std::string& form : {fmt::format("${}", token), fmt::format("${{{}}}", token)})
    for (std::size_t at = path.find(form); at != std::string::npos; at = path.find(form, at + value.size()))
      path.replace(at, form.size(), value);
  return path;
}

// Dynamic string tokens (ld.so(8)) of a search path, which is then split at its colons; an empty entry is the current
// folder.
std::vector<std::string> expand_path(std::string_view path, const std::string& origin, std::uint16_t machine) {
  std::vector<std::string> folders;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find(':', at), path.size());
    std::string folder = replace_token(std::string(path.substr(at, end - at)), "ORIGIN", origin);
    folder = replace_token(std::move(folder), "LIB",
                           machine == elf::EM_AARCH64 ? "lib/aarch64-linux-gnu" : "lib/x86_64-linux-gnu");
    folder = replace_token(std::move(folder), "PLATFORM", machine == elf::EM_AARCH64 ? "aarch64" : "x86_64");
    folders.push_back(folder.empty() ? "." : folder);
    at = end + 1;
  }
  return folders;
}

// A file that the search passes over: made for another machine or class.
bool suits(const FileAnswer& file, std::uint16_t machine) {
  return file.elf == nullptr || (file.elf->class64() && file.elf->machine() == machine);
}

}  // namespace

// What was tried, for the report of a library that is nowhere.
struct Process::Search {
  std::vector<std::string> tried;

  std::optional<Found> in(Process& process, const std::vector<std::string>& folders, const std::string& name,
                          const std::string& rule) {
    for (const std::string& folder : folders) {
      std::string path = (folder.ends_with('/') ? folder : folder + "/") + name;
      tried.push_back(fmt::format("{}: {}", rule, process.displayed(path)));
      FileAnswer file = process.files_.open(path);
      if (file.state != FileAnswer::State::absent && suits(file, process.machine_))
        return Found{std::move(path), std::move(file)};
    }
    return std::nullopt;
  }
};

std::optional<Process::Found> Process::search_own_paths(const std::string& name, int loader, Search& search) {
  const LoadedObject& needing = state_.objects[static_cast<std::size_t>(loader)];
  if (needing.elf && needing.elf->runpath()) return std::nullopt;
  // The rpath of the needing object, of the object that needed it, and so on; last the executable's.
  bool executable_seen = false;
  for (int at = loader; at >= 0; at = state_.objects[static_cast<std::size_t>(at)].loader) {
    const LoadedObject& object = state_.objects[static_cast<std::size_t>(at)];
    executable_seen |= object.executable;
    if (!object.elf || !object.elf->rpath()) continue;
    if (auto found = search.in(*this, expand_path(*object.elf->rpath(), object.origin, machine_), name,
                               "RPATH of " + name_of(at)))
      return found;
  }
  const LoadedObject& executable = state_.objects.front();
  if (executable_seen || !executable.elf || !executable.elf->rpath()) return std::nullopt;
  return search.in(*this, expand_path(*executable.elf->rpath(), executable.origin, machine_), name,
                   "RPATH of the executable");
}

std::optional<Process::Found> Process::search_system(const std::string& name, int loader, Search& search) {
  const LoadedObject& needing = state_.objects[static_cast<std::size_t>(loader)];
  if (needing.elf && needing.elf->no_default_libraries()) return std::nullopt;
  if (const auto cached = files_.cached_library(name)) {
    search.tried.push_back("ld.so.cache: " + *cached);
    if (FileAnswer file = files_.open(*cached); file.state != FileAnswer::State::absent && suits(file, machine_))
      return Found{*cached, std::move(file)};
  } else {
    search.tried.push_back("ld.so.cache: no entry");
  }
  const auto& folders = machine_ == elf::EM_AARCH64 ? kAarch64Folders : kX86_64Folders;
  return search.in(*this, {folders.begin(), folders.end()}, name, "default");
}

std::optional<Process::Found> Process::open_path(const std::string& path, int loader) {
  const std::string expanded =
      loader < 0 ? path : expand_path(path, state_.objects[static_cast<std::size_t>(loader)].origin, machine_).front();
  FileAnswer file = files_.open(expanded);
  if (file.state == FileAnswer::State::absent || (file.elf && file.elf->class64() && file.elf->machine() != machine_))
    return std::nullopt;
  return Found{expanded, std::move(file)};
}

std::optional<Process::Found> Process::search(const std::string& name, int loader) {
  Search search;
  std::optional<Found> found;
  if (name.find('/') != std::string::npos) {
    found = open_path(name, loader);
    search.tried.push_back("path: " + displayed(name));
  } else {
    const LoadedObject& needing = state_.objects[static_cast<std::size_t>(loader)];
    found = search_own_paths(name, loader, search);
    std::vector<std::string> library_path;
    for (const auto& folder : files_.environment().library_path) library_path.push_back(folder.string());
    if (!found) found = search.in(*this, library_path, name, "LD_LIBRARY_PATH");
    if (!found && needing.elf && needing.elf->runpath())
      found = search.in(*this, expand_path(*needing.elf->runpath(), needing.origin, machine_), name,
                        "RUNPATH of " + name_of(loader));
    if (!found) found = search_system(name, loader, search);
  }
  if (found) return found;
  if (std::any_of(assumed_.begin(), assumed_.end(), [&](const AssumedLibrary& a) { return a.soname == name; }))
    return std::nullopt;
  missing_.push_back(name);
  report({.kind = ProblemKind::library_not_found,
          .object = loader < 0 ? "" : name_of(loader),
          .library = name,
          .searched = std::move(search.tried),
          .message = fmt::format("{}: cannot open shared object file: No such file or directory", displayed(name))},
         Outcome::fails);
  return std::nullopt;
}

}  // namespace compatrix::linker
