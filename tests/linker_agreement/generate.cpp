#include <algorithm>
#include <random>

#include <fmt/format.h>

#include "tests/linker_agreement/graph.h"

namespace agreement {
namespace {

// Draws that are the same with every standard library.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : engine_(seed) {}
  std::size_t below(std::size_t limit) { return engine_() % limit; }
  bool percent(std::size_t chance) { return below(100) < chance; }
  template <class T>
  const T& of(const std::vector<T>& list) {
    return list[below(list.size())];
  }
  template <class T>
  void shuffle(std::vector<T>& list) {
    for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[below(i)]);
  }

 private:
  std::mt19937_64 engine_;
};

const std::vector<std::string> kFolders{"d0", "d1", "d2", "ll"};
const std::vector<std::string> kSubfolders{"glibc-hwcaps/x86-64-v2",
                                           "glibc-hwcaps/x86-64-v3",
                                           "glibc-hwcaps/x86-64-v4",
                                           "glibc-hwcaps/other",
                                           "tls",
                                           "x86_64",
                                           "tls/x86_64",
                                           "haswell",
                                           "lib/x86_64-linux-gnu"};
const std::vector<std::string> kPathElements{"$ORIGIN",
                                             "$ORIGIN/../d0",
                                             "$ORIGIN/../d1",
                                             "$ORIGIN/../d2",
                                             "${ORIGIN}/../d2/",
                                             "$ORIGIN/../d1//",
                                             "$ORIGIN/../$LIB",
                                             "$ORIGIN/${LIB}",
                                             "$ORIGIN/$PLATFORM",
                                             "$ORIGINAL/d1",
                                             "${ORIGIN/d1",
                                             "$ORIGIN/../none",
                                             "$ORIGIN/../none/../d1",
                                             "$ORIGIN/../folder_link",
                                             "$ORIGIN/../folder_link/../d0",
                                             "",
                                             "d1",
                                             "./d2",
                                             "$ORIGIN/lib0.so"};

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : chance_(seed) { graph_.seed = seed; }

  Graph make() {
    lawless_ = chance_.percent(25);  // graphs in which unusual things are frequent
    count_ = 3 + static_cast<int>(chance_.below(6));
    graph_.folders = kFolders;
    for (const char* folder : {"lib/x86_64-linux-gnu", "x86_64"}) graph_.folders.emplace_back(folder);
    graph_.others.push_back({.kind = OtherFile::Kind::link, .path = "folder_link", .target = "d2"});
    for (int number = 0; number < count_; ++number) {
      homes_.push_back(home());
      has_versions_.push_back(chance_.percent(45));
    }
    for (int number = 0; number < count_; ++number) {
      if (!rarely(3)) add_library(number, homes_[static_cast<std::size_t>(number)]);
      if (rarely(18)) add_library(number, chance_.of(kFolders));
      if (rarely(8)) add_library(number, chance_.of(kFolders) + "/" + chance_.of(kSubfolders));
      if (rarely(8)) add_other(number);
    }
    choose_opened();
    return std::move(graph_);
  }

 private:
  bool rarely(std::size_t chance) { return chance_.percent(lawless_ ? std::min<std::size_t>(2 * chance, 60) : chance); }

  std::string home() {
    return chance_.percent(15) ? "ll" : chance_.of(std::vector<std::string>{"d0", "d1", "d1", "d2"});
  }

  bool taken(const std::string& path) const {
    return std::any_of(graph_.libraries.begin(), graph_.libraries.end(),
                       [&](const Library& l) { return l.path == path; }) ||
           std::any_of(graph_.others.begin(), graph_.others.end(), [&](const OtherFile& o) { return o.path == path; });
  }

  void add_other(int number) {
    const std::string path = fmt::format("{}/lib{}.so", chance_.of(kFolders), number);
    if (taken(path)) return;
    OtherFile other{.path = path};
    const std::size_t kind = chance_.below(10);
    other.kind = kind < 5   ? OtherFile::Kind::link
                 : kind < 7 ? OtherFile::Kind::text
                 : kind < 9 ? OtherFile::Kind::empty
                            : OtherFile::Kind::folder;
    if (other.kind == OtherFile::Kind::link) {
      const int target = static_cast<int>(chance_.below(static_cast<std::size_t>(count_)));
      other.target = rarely(10) ? fmt::format("lib{}.so", number)  // itself
                                : fmt::format("../{}/lib{}.so", homes_[static_cast<std::size_t>(target)], target);
    }
    graph_.others.push_back(std::move(other));
  }

  void add_library(int number, const std::string& folder) {
    Library library{.path = fmt::format("{}/lib{}.so", folder, number), .number = number};
    if (taken(library.path)) return;
    const std::size_t named = chance_.below(100);
    library.soname = named < 82   ? fmt::format("lib{}.so", number)
                     : named < 90 ? ""
                                  : fmt::format("lib{}.so", chance_.below(static_cast<std::size_t>(count_)));
    choose_needs(library);
    choose_references(library);
    choose_search_path(library);
    choose_symbols(library);
    choose_options(library);
    choose_damage(library);
    graph_.libraries.push_back(std::move(library));
  }

  void choose_needs(Library& library) {
    for (int other = 0; other < count_; ++other) {
      if (other == library.number || !chance_.percent(40)) continue;
      Need need{.library = other,
                .versioned = has_versions_[static_cast<std::size_t>(other)] != rarely(3),
                .name = fmt::format("lib{}.so", other)};
      if (rarely(6))
        need.name = chance_.of(std::vector<std::string>{"$ORIGIN/", "${ORIGIN}/../d1/", "$ORIGIN/../d2/", "d0/",
                                                        "./d1/", "$ORIGIN/../$LIB/", "$ORIGIN/../folder_link/"}) +
                    need.name;
      library.needs.push_back(std::move(need));
    }
    chance_.shuffle(library.needs);
    library.uses_libc = chance_.percent(15);
  }

  void choose_references(Library& library) {
    std::vector<std::pair<int, int>> candidates;
    for (const Need& need : library.needs)
      for (int slot = 0; slot < slot_count; ++slot) candidates.emplace_back(need.library, slot);
    for (int other = 0; other < count_; ++other)
      for (int slot = 0; slot < slot_count; ++slot)
        if (chance_.percent(other == library.number ? 15 : 3)) candidates.emplace_back(other, slot);
    chance_.shuffle(candidates);
    std::sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(candidates.size() / 2));
    chance_.shuffle(candidates);
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    const std::size_t most = chance_.below(8);
    if (candidates.size() > most) candidates.resize(most);
    for (const auto& [other, slot] : candidates) {
      const bool twice =
          std::any_of(library.references.begin(), library.references.end(),
                      [&, o = other, s = slot](const Reference& r) { return r.library == o && r.slot == s; });
      if (twice) continue;
      library.references.push_back({.form = form_for(slot),
                                    .library = other,
                                    .slot = slot,
                                    .weak = other != library.number && chance_.percent(15)});
    }
  }

  Reference::Form form_for(int slot) {
    using enum Reference::Form;
    if (slot == thread_local_object)
      return chance_.of(std::vector{tls_initial_exec, tls_initial_exec, tls_general, tls_descriptor});
    if (slot == object || slot == unique_object) return chance_.of(std::vector{got, pointer});
    return chance_.of(std::vector{call, call, got, pointer});
  }

  void choose_search_path(Library& library) {
    library.has_search_path = chance_.percent(94);
    library.runpath = chance_.percent(45);
    std::vector<std::string> elements(kPathElements.begin(), kPathElements.begin() + 4);
    chance_.shuffle(elements);
    elements.resize(4 - (rarely(25) ? chance_.below(3) : 0));
    if (rarely(25))
      elements.insert(elements.begin() + static_cast<std::ptrdiff_t>(chance_.below(elements.size() + 1)),
                      chance_.of(kPathElements));
    for (const std::string& element : elements)
      library.search_path += (library.search_path.empty() ? "" : ":") + element;
  }

  void choose_symbols(Library& library) {
    for (std::size_t slot = 0; slot < slot_count; ++slot) {
      library.dropped[slot] = chance_.percent(4);
      if (rarely(4)) library.visibility[slot] = chance_.percent(60) ? "protected" : "hidden";
    }
    library.late_is_indirect = chance_.percent(20);
    if (has_versions_[static_cast<std::size_t>(library.number)]) {
      const std::size_t drawn = chance_.below(20);
      library.versions = drawn < 15   ? Versions::both
                         : drawn < 17 ? Versions::none
                         : drawn < 19 ? Versions::first_only
                                      : Versions::base_only;
    }
    library.own_initial_exec = rarely(10);
    if (library.own_initial_exec || rarely(15))
      library.tls_size = static_cast<int>(8 * chance_.below(rarely(30) ? 200 : 40));
    library.tls_alignment = chance_.of(std::vector{8, 8, 8, 16, 32, 64, rarely(20) ? 128 : 8});
  }

  void choose_options(Library& library) {
    auto& options = library.options;
    if (chance_.percent(10)) options.emplace_back("-Bsymbolic");
    if (chance_.percent(25)) options.emplace_back(chance_.percent(60) ? "--hash-style=sysv" : "--hash-style=both");
    const auto keyword = [&](std::size_t chance, const char* word) {
      if (rarely(chance)) options.insert(options.end(), {"-z", word});
    };
    keyword(5, "nodefaultlib");
    keyword(2, "nodlopen");
    keyword(5, "now");
    keyword(4, "nodelete");
    keyword(3, "execstack");
    keyword(2, "initfirst");
    keyword(4, "x86-64-v2");
    keyword(4, "x86-64-v3");
    keyword(3, "x86-64-v4");
    if (rarely(8)) {
      library.relative_relocations = 1 + static_cast<int>(chance_.below(4));
      options.insert(options.end(), {"-z", "pack-relative-relocs"});
      library.uses_libc |= chance_.percent(70);
      if (library.uses_libc && chance_.percent(50)) library.damage = Damage::no_relr_mark;
    }
    library.is_program = rarely(1);
  }

  void choose_damage(Library& library) {
    if (library.damage != Damage::none || !rarely(5)) return;
    using enum Damage;
    library.damage =
        chance_.of(std::vector{cut_off, cut_off, cut_off, other_class, other_class, other_machine, executable_type,
                               object_type, no_dynamic, bad_ident, bad_entry_size, needs_removed, needs_removed});
    library.cut = chance_.below(1000);
  }

  void choose_opened() {
    for (const Library& library : graph_.libraries) graph_.opened.push_back(library.path);
    for (const OtherFile& other : graph_.others) graph_.opened.push_back(other.path);
    graph_.opened.emplace_back(
        chance_.of(std::vector<std::string>{"d1/none.so", "none/lib0.so", "d0/lib0.so/lib1.so"}));
    std::vector<std::string> preloads = graph_.opened;
    chance_.shuffle(preloads);
    preloads.resize(std::min<std::size_t>(preloads.size(), chance_.below(4)));
    for (const std::string& path : preloads) graph_.preloads.push_back({path, chance_.percent(50)});
    if (chance_.percent(80)) graph_.library_path.emplace_back("ROOT/ll");
    if (rarely(8))
      graph_.library_path.push_back(chance_.of(std::vector<std::string>{"", "d2", "ROOT/none", "ROOT/d0/"}));
  }

  Chance chance_;
  Graph graph_;
  int count_ = 0;
  bool lawless_ = false;
  std::vector<std::string> homes_;
  std::vector<bool> has_versions_;
};

}  // namespace

std::string symbol_name(int library, int slot) {
  return fmt::format("f{}_{}", library, slot);
}

Graph make_graph(std::uint64_t seed) {
  return Generator(seed).make();
}

}  // namespace agreement
