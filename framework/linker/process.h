// A process, simulated: what glibc's dynamic linker (2.36) has loaded, and what a further dlopen would do. The rules
// and their order are those of elf/dl-load.c, dl-deps.c, dl-version.c and dl-lookup.c; ld.so(8) has most of them in
// prose.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "framework/elf/elf_file.h"
#include "framework/environment/cell_files.h"
#include "framework/linker/load_report.h"
#include "framework/linker/relatives.h"
#include "framework/linker/search_path.h"
#include "framework/linker/static_tls.h"

namespace compatrix::linker {

// Facts that the question needs are not known yet: fetch CellFiles::take_wants() and ask again. The process is as it
// was.
struct FactsWanted {};

// A library that counts as there although it is not part of any environment: the GPU driver's.
struct AssumedLibrary {
  std::string soname;
  std::string symbol_prefix;  // it provides every symbol whose name begins so; empty: those below
  // Of a declared platform: every symbol of a version that it defines, and without a version those that this machine's
  // library of that name has in such a version.
  std::optional<PlatformLibrary> of_platform = {};
  std::shared_ptr<const elf::ElfFile> names = nullptr;
};

// An object in the process (glibc's struct link_map). Others are named by their position in the link map.
struct LoadedObject {
  std::shared_ptr<const elf::ElfFile> elf;  // null: assumed, or the facts are wanted
  std::string path;                         // as opened; empty for the executable
  std::vector<std::string> names;           // needed names that led here
  bool soname_matched = false;
  std::string identity;
  std::string origin;           // what $ORIGIN stands for
  int loader = -1;              // the object whose needed entry brought it; -1: none
  std::vector<int> init_order;  // itself, then what it needs; for a dlopen'ed root the whole sorted list
  std::vector<int> scope;       // breadth-first closure, for a root
  bool relocated = false, versions_checked = false, global = false, from_system = false, executable = false;
  bool in_static_tls = false;  // its thread-local memory has a place in the static TLS block
  std::optional<AssumedLibrary> assumed;

  [[nodiscard]] bool is_called(std::string_view name) const;
};

class Process {
 public:
  // A process in which the environment's interpreter has started. Throws FactsWanted.
  Process(CellFiles& files, Relatives& relatives);

  // From now on a needed `soname` that is found nowhere counts as there.
  void assume_library(AssumedLibrary library) { assumed_.push_back(std::move(library)); }

  enum class Visibility { local, global };  // RTLD_LOCAL, RTLD_GLOBAL
  // dlopen(path, RTLD_NOW | visibility) by an absolute path or one relative to site-packages. What loads stays loaded;
  // a failed open leaves nothing behind. Throws FactsWanted.
  LoadReport open(const std::string& path, Visibility visibility);
  // The same, and the process is as it was before.
  LoadReport try_open(const std::string& path);
  // Finds and maps what try_open would, without versions and symbols: throws FactsWanted while facts are lacking.
  void map_only(const std::string& path);

 private:
  struct State {
    std::vector<LoadedObject> objects;
    std::vector<int> global_scope;
    StaticTlsBlock static_tls;
  };
  struct Found {
    std::string path;
    FileAnswer file;
  };
  struct Search;  // one search for one needed name

  void assume_platform();
  void start();
  std::optional<int> map_closure(const std::string& path, std::vector<int>& closure);
  LoadReport load(const std::string& path, Visibility visibility);
  void bind(int root, const std::vector<int>& closure);
  // Mapping (dl-load.c, dl-deps.c)
  std::optional<int> map_object(const std::string& name, int loader);
  std::optional<Found> search(const std::string& name, int loader);
  void attempt(Search& search, const std::string& path);
  const std::vector<std::string>& with_subfolders(const std::string& folder);
  void search_in(Search& search, const std::vector<std::string>& folders, const std::string& rule);
  void search_rpath(Search& search, int object);
  void search_rpaths(Search& search, int loader);
  void search_library_path(Search& search);
  void search_system(Search& search, bool without_defaults);
  void search_everywhere(Search& search, int loader);
  void refuse(const std::string& name, const std::string& shown, const std::string& words);
  bool map_file(const std::string& name, const Found& found);
  std::optional<int> assume(const std::string& name, int loader);
  std::vector<int> map_needed(int root);
  std::vector<int> sort_for_relocation(const std::vector<int>& objects);
  void finish_mapping(int root, const std::vector<int>& closure);
  // Versions and symbols (dl-version.c, dl-lookup.c, dl-reloc.c)
  void check_versions(int object);
  void check_version(int object, const std::string& file, const LoadedObject& provider,
                     const elf::VersionRequirement& version);
  void check_relative_relocations(int object);
  void check_isa_level(int object);
  void relocate(int object, int root);
  void place_in_static_tls(int object, elf::StaticTls need);
  [[nodiscard]] std::optional<int> lookup(int object, int root, std::uint32_t index, elf::LookupClass lookup);
  void report_undefined(int object, int root, std::string_view symbol, const elf::SymbolVersion& version);
  void report(Problem problem, Outcome outcome);

  [[nodiscard]] std::string displayed(const std::string& path) const;
  [[nodiscard]] std::string absolute(const std::string& path) const;
  [[nodiscard]] std::string name_of(int object) const;

  CellFiles& files_;
  Relatives& relatives_;
  std::string site_prefix_;
  std::uint16_t machine_;
  Capabilities capabilities_;
  std::vector<AssumedLibrary> assumed_;
  State state_;
  std::unordered_map<std::string, std::vector<std::string>> subfolders_;
  bool started_ = false;  // what comes now is opened by dlopen
  bool facts_wanted_ = false;
  LoadReport report_;                      // of the open in progress
  std::vector<std::string> missing_;       // needed names not found, or refused, in it
  std::vector<std::uint32_t> candidates_;  // scratch of lookup
};

}  // namespace compatrix::linker
