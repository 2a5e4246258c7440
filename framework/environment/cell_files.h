// The files that a cell's processes would see: its wheels laid out as installed, or a real site-packages, over this
// machine's system folders, or over none where a platform is declared. Facts that are not known yet are noted as
// wanted, never guessed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "framework/elf/elf_file.h"
#include "framework/environment/environment.h"
#include "framework/environment/platform.h"
#include "framework/environment/wheel_library.h"
#include "framework/facts/store.h"

namespace compatrix {

// Facts that must be fetched before a question can be answered.
struct Want {
  std::string sha256;  // of the wheel
  std::string member;  // archive entry
  bool text = false;   // its text, else its library facts
  auto operator<=>(const Want&) const = default;
};

// What a path leads to.
struct FileAnswer {
  enum class State { absent, present, wanted } state = State::absent;
  int error = 0;                            // errno of opening an absent file
  std::shared_ptr<const elf::ElfFile> elf;  // null where the file is no readable ELF file
  std::string defect;                       // why
  elf::Acceptance acceptance;               // by the dynamic linker
  std::string identity;                     // equal for two paths that are one file
  bool from_system = false;                 // of this machine, not of the cell
};

class CellFiles {
 public:
  CellFiles(const Environment& environment, WheelLibrary& wheels);

  [[nodiscard]] const Environment& environment() const { return environment_; }

  // The file that the kernel would open for this path ("a/../b" needs `a` to be there); a relative one starts from the
  // environment's working folder.
  FileAnswer open(std::string_view path);
  [[nodiscard]] bool is_directory(const std::string& path) const;
  // Header lines that the texts in an ELF file quote; none where its facts are wanted.
  [[nodiscard]] std::vector<facts::SourceLocation> source_locations(std::string_view path);
  // Text of a file below site-packages, at most 4 MiB; nothing where there is none or it is wanted.
  std::optional<std::string> read_text(const std::string& path);
  // Facts that were kept of an interpreter of this cell's version, where the machine has none; else null.
  [[nodiscard]] std::shared_ptr<const elf::ElfFile> kept_interpreter() const;
  // The platform that the cell declares instead of this machine.
  [[nodiscard]] const std::optional<Platform>& platform() const { return platform_; }
  // This machine's library of that soname, for the names that it exports; null where it has none.
  [[nodiscard]] std::shared_ptr<const elf::ElfFile> library_of_this_machine(std::string_view soname) const;
  // What this machine's ld.so.cache has, or nothing.
  [[nodiscard]] std::optional<std::string> cached_library(std::string_view soname) const;

  [[nodiscard]] bool has_wants() const { return !wants_.empty(); }
  // What was asked for and is not known, since the last call.
  std::vector<Want> take_wants();

 private:
  struct Resolved {
    std::string path;                                // normalised absolute path
    std::shared_ptr<const facts::WheelFacts> wheel;  // where it belongs to a wheel
    const wheel::ZipEntry* entry = nullptr;
  };
  // Without "." and "..", as the wheels' files know it; nothing where a folder on the way is not there.
  [[nodiscard]] std::optional<std::string> normalised(std::string_view path) const;
  [[nodiscard]] std::optional<Resolved> resolve(std::string_view path) const;
  // Whether the kernel, and not the wheels' files, says where the path leads.
  [[nodiscard]] bool is_on_disk(std::string_view path) const;
  [[nodiscard]] bool directory_exists(const std::string& path) const;
  [[nodiscard]] std::optional<std::string> below_site_packages(const std::string& path) const;
  FileAnswer open_on_disk(const std::string& path);

  Environment environment_;
  std::optional<Platform> platform_;
  WheelLibrary& wheels_;
  std::string site_prefix_;    // site-packages with a trailing slash
  std::string imagined_root_;  // first folder of that path: nothing below it is on disk unless the cell is installed
  std::vector<std::shared_ptr<const facts::WheelFacts>> laid_out_;
  std::map<std::string, std::string, std::less<>> loader_cache_;
  std::unordered_map<std::string, FileAnswer> answers_;
  std::vector<Want> wants_;
};

}  // namespace compatrix
