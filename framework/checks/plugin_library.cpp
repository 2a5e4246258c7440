#include "framework/checks/plugin_library.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <set>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "compatrix/note.h"
#include "framework/base/text.h"
#include "framework/bytes/mapped_file.h"
#include "framework/elf/elf_file.h"

namespace compatrix {
namespace {

#if defined(__aarch64__)
constexpr std::uint16_t kOwnMachine = elf::EM_AARCH64;
#else
constexpr std::uint16_t kOwnMachine = elf::EM_X86_64;
#endif

constexpr std::uint64_t kLargestNotes = 1U << 20;

std::uint32_t number(std::string_view text) {
  std::uint32_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// "id|needs|timeout|summary"
PluginNote::Check parse_check(std::string_view line, std::uint64_t offset) {
  std::vector<std::string> parts;
  for (int i = 0; i < 3; ++i) {
    const std::size_t bar = line.find('|');
    if (bar == std::string_view::npos) throw FormatError(offset, "a check line of four parts was expected in the note");
    parts.emplace_back(line.substr(0, bar));
    line.remove_prefix(bar + 1);
  }
  return {.id = visible_utf8(parts[0]),
          .summary = visible_utf8(line),
          .needs = number(parts[1]),
          .default_timeout_s = number(parts[2])};
}

PluginNote parse_note(std::string_view text, std::uint64_t offset) {
  PluginNote note;
  bool has_abi = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos) continue;
    const std::string_view key = line.substr(0, blank), value = line.substr(blank + 1);
    if (key == "abi") {
      has_abi = true;
      note.abi_major = number(value);
      note.abi_minor = number(value.substr(std::min(value.find('.'), value.size() - 1) + 1));
    }
    if (key == "check") note.checks.push_back(parse_check(value, offset));
    for (const auto& [name, field] : {std::pair{"name", &note.name},
                                      {"version", &note.version},
                                      {"compiler", &note.compiler},
                                      {"cxx-abi", &note.cxx_abi},
                                      {"cuda-toolkit", &note.cuda_toolkit},
                                      {"torch", &note.torch}})
      if (key == name) *field = visible_utf8(value);
  }
  if (!has_abi) throw FormatError(offset, "an abi line was expected in the note");
  return note;
}

// The note's text among the notes of the file's PT_NOTE segments (gABI, "Note Section").
std::optional<PluginNote> find_note(const ByteSource& file, const elf::RawTables& tables) {
  for (const elf::Segment& segment : tables.segments) {
    if (segment.type != elf::PT_NOTE || segment.file_size > kLargestNotes) continue;
    const ByteView notes = file.slice(segment.offset, segment.file_size);
    for (std::uint64_t at = 0; at + 12 <= notes.size();) {
      const std::uint64_t owner = notes.u32(at), size = notes.u32(at + 4);
      const std::uint64_t content = at + 12 + (owner + 3) / 4 * 4;
      const std::string_view name = notes.slice(at + 12, owner).text();
      const std::string_view text = notes.slice(content, size).text();
      if (notes.u32(at + 8) == COMPATRIX_NOTE_TYPE &&
          name == std::string_view(COMPATRIX_NOTE_OWNER, sizeof(COMPATRIX_NOTE_OWNER)))
        return parse_note(text.substr(0, text.find('\0')), notes.file_offset() + content);
      at = content + (size + 3) / 4 * 4;
    }
  }
  return std::nullopt;
}

bool writable(const struct stat& status) {
  return (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

// Whoever may write to a plugin decides what this program does. In a folder with the sticky bit, such as /tmp, others
// can't replace a file but can put their own there: then it counts whose the file is.
std::optional<std::string> writable_by_others(const std::filesystem::path& path) {
  struct stat file {
  }, folder{};
  if (::stat(path.c_str(), &file) != 0) return fmt::format("can't be examined: {}", std::strerror(errno));
  if (writable(file)) return "the file may be written to by others; chmod go-w it";
  const auto parent = std::filesystem::absolute(path).parent_path();
  if (::stat(parent.c_str(), &folder) != 0)
    return fmt::format("its folder can't be examined: {}", std::strerror(errno));
  if (!writable(folder)) return std::nullopt;
  if ((folder.st_mode & S_ISVTX) == 0) return "its folder may be written to by others; chmod go-w it";
  if (file.st_uid == 0 || file.st_uid == ::geteuid()) return std::nullopt;
  return "it is another user's file in a folder that others may write to; move it to a folder of your own";
}

}  // namespace

Result<PluginFile> inspect_plugin(const std::filesystem::path& file) try {
  const auto mapped = MappedFile::open(file);
  if (!mapped) return mapped.error();
  if (const auto fault = writable_by_others(file)) return Error{file.string(), *fault};
  const elf::RawTables tables = elf::read_tables(**mapped);
  if (!tables.class64 || tables.machine != kOwnMachine)
    return Error{file.string(), "is made for another machine; build it here"};
  if (elf::ends_early(tables)) return Error{file.string(), "is cut off before its end; copy or build it again"};
  auto note = find_note(**mapped, tables);
  if (!note)
    return Error{file.string(), "is no plugin: it has no compatrix note (use COMPATRIX_PLUGIN of compatrix/note.h)"};
  if (note->abi_major > COMPATRIX_ABI_MAJOR)
    return Error{file.string(),
                 fmt::format("was built for ABI {}.{}, this compatrix has {}.{}; update compatrix", note->abi_major,
                             note->abi_minor, COMPATRIX_ABI_MAJOR, COMPATRIX_ABI_MINOR)};
  return PluginFile{.path = std::filesystem::absolute(file), .note = std::move(*note)};
} catch (const FormatError& defect) {
  return Error{file.string(), std::string("is no plugin: ") + defect.what()};
}

std::vector<std::filesystem::path> plugin_folders() {
  std::vector<std::filesystem::path> folders;
  if (const char* named = std::getenv("COMPATRIX_PLUGIN_PATH"); named != nullptr) {
    const std::string_view path = named;
    for (std::size_t at = 0; at <= path.size();) {
      const std::size_t end = std::min(path.find(':', at), path.size());
      if (end > at) folders.emplace_back(path.substr(at, end - at));
      at = end + 1;
    }
  }
  std::error_code failure;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", failure);
  if (!failure) {
    folders.push_back(program.parent_path() / "plugins");
    folders.push_back(program.parent_path().parent_path() / "lib" / "compatrix" / "plugins");
  }
  return folders;
}

namespace {

// The files that are plugins by their name, sorted; a folder that is not there has none.
std::vector<std::filesystem::path> plugin_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code failure;
  for (std::filesystem::directory_iterator at(folder, failure), end; !failure && at != end; at.increment(failure))
    if (at->path().extension() == ".so") files.push_back(at->path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

PluginCatalogue find_plugins(const std::vector<std::filesystem::path>& folders) {
  PluginCatalogue catalogue;
  std::set<std::filesystem::path> searched;
  for (const auto& folder : folders) {
    std::error_code failure;
    // One folder may be named twice, by the variable and as the one beside the executable.
    if (!searched.insert(std::filesystem::weakly_canonical(folder, failure)).second) continue;
    for (const auto& file : plugin_files(folder)) {
      auto plugin = inspect_plugin(file);
      if (!plugin) {
        catalogue.refused.push_back(plugin.error());
        continue;
      }
      const auto& checks = plugin->note.checks;
      const auto taken = std::find_if(checks.begin(), checks.end(),
                                      [&](const auto& check) { return catalogue.with_check(check.id) != nullptr; });
      if (taken != checks.end()) {
        catalogue.refused.push_back({file.string(), fmt::format("its check {} is already that of {}", taken->id,
                                                                catalogue.with_check(taken->id)->path.string())});
        continue;
      }
      catalogue.plugins.push_back(std::move(*plugin));
    }
  }
  return catalogue;
}

const PluginFile* PluginCatalogue::with_check(const std::string& id) const {
  for (const PluginFile& plugin : plugins)
    for (const auto& check : plugin.note.checks)
      if (check.id == id) return &plugin;
  return nullptr;
}

}  // namespace compatrix
