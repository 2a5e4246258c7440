#include <map>
#include <string>
#include <vector>

#include <catch2/catch_all.hpp>

#include "compatrix/check.hpp"
#include "examination.h"

using namespace wheel_integrity;

namespace {

struct Library {
  std::vector<const char*> needed, undefined;
  std::vector<compatrix_version_need> version_needs;
};

// A cell of one wheel, kern 1.0, and of other distributions.
struct Cell {
  std::string file_name = "kern-1.0-cp310-abi3-manylinux_2_17_x86_64.whl";
  std::string metadata = "Metadata-Version: 2.1\nName: kern\nVersion: 1.0\n";
  std::string wheel = "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp310-abi3-manylinux_2_17_x86_64\n";
  std::string record = "kern/ops.abi3.so,sha256=abc,3\nkern-1.0.dist-info/RECORD,,\n";
  std::vector<std::string> files{"kern/ops.abi3.so", "kern-1.0.dist-info/RECORD"};
  std::vector<compatrix_defect> defects;
  std::map<std::string, Library> libraries{{"kern/ops.abi3.so", {}}};
  std::vector<std::pair<std::string, std::string>> others;  // name and version

  // What the services have lent.
  compatrix_distribution distribution{};
  compatrix_file file{};
  compatrix_elf_facts facts{};
};

// The opaque run of the C ABI is, to these services, the cell.
Cell& cell_of(compatrix_run* run) {
  return *reinterpret_cast<Cell*>(run);
}

const compatrix_distribution* lend_distribution(compatrix_run* run, std::size_t index) {
  Cell& cell = cell_of(run);
  const bool subject = index == 0;
  cell.distribution = {.struct_size = sizeof(compatrix_distribution),
                       .name = subject ? "kern" : cell.others[index - 1].first.c_str(),
                       .version = subject ? "1.0" : cell.others[index - 1].second.c_str(),
                       .requested = 1,
                       .file_name = subject ? cell.file_name.c_str() : "",
                       .sha256 = "",
                       .metadata = cell.metadata.c_str(),
                       .wheel = cell.wheel.c_str(),
                       .record = cell.record.c_str()};
  return &cell.distribution;
}

const compatrix_file* lend_file(compatrix_run* run, std::size_t, std::size_t index) {
  Cell& cell = cell_of(run);
  cell.file = {.struct_size = sizeof(compatrix_file),
               .path = cell.files[index].c_str(),
               .size = 1,
               .shared_object = cell.files[index].ends_with(".so") ? 1 : 0};
  return &cell.file;
}

const compatrix_elf_facts* lend_facts(compatrix_run* run, const char* path) {
  Cell& cell = cell_of(run);
  const auto found = cell.libraries.find(path);
  if (found == cell.libraries.end()) return nullptr;
  const Library& library = found->second;
  cell.facts = {.struct_size = sizeof(compatrix_elf_facts),
                .needed = library.needed.data(),
                .needed_count = library.needed.size(),
                .version_needs = library.version_needs.data(),
                .version_need_count = library.version_needs.size(),
                .undefined = library.undefined.data(),
                .undefined_count = library.undefined.size()};
  return &cell.facts;
}

constexpr compatrix_environment_1 kEnvironment{
    .struct_size = sizeof(compatrix_environment_1),
    .python_version = [](compatrix_run*) { return "3.11"; },
    .machine = [](compatrix_run*) { return "x86_64"; },
    .distribution_count = [](compatrix_run* run) { return 1 + cell_of(run).others.size(); },
    .distribution = &lend_distribution,
    .file_count = [](compatrix_run* run, std::size_t) { return cell_of(run).files.size(); },
    .file = &lend_file,
    .defect_count = [](compatrix_run* run, std::size_t) { return cell_of(run).defects.size(); },
    .defect = [](compatrix_run* run, std::size_t, std::size_t index) -> const compatrix_defect* {
      return &cell_of(run).defects[index];
    }};
constexpr compatrix_elf_1 kElf{.struct_size = sizeof(compatrix_elf_1),
                               .facts = &lend_facts,
                               .prepare = [](compatrix_run*, const char* const*, std::size_t) {}};

using Kinds = std::vector<std::string>;

std::vector<Found> examine(Cell cell, void (*question)(Examination&)) {
  Examination examination{
      .run = reinterpret_cast<compatrix_run*>(&cell), .environment = &kEnvironment, .elf = &kElf, .distribution = 0};
  question(examination);
  return examination.found;
}
Kinds kinds(const std::vector<Found>& found) {
  Kinds kinds;
  for (const Found& each : found) kinds.push_back(each.kind + (each.fatal ? " (fatal)" : ""));
  return kinds;
}
Kinds of_archive(const Cell& cell) {
  return kinds(examine(cell, &examine_archive));
}
Kinds of_metadata(const Cell& cell) {
  return kinds(examine(cell, &examine_metadata));
}

}  // namespace

TEST_CASE("a wheel that tells the truth has no findings", "[wheel_integrity]") {
  CHECK(of_archive({}) == Kinds{});
  CHECK(of_metadata({}) == Kinds{});
}

TEST_CASE("RECORD lists every file of the archive and no other", "[wheel_integrity]") {
  Cell more;
  more.files.emplace_back("kern/late.py");
  CHECK(of_archive(more) == Kinds{"record-incomplete (fatal)"});
  Cell fewer;
  fewer.record += "kern/gone.py,sha256=abc,3\n";
  CHECK(of_archive(fewer) == Kinds{"record-lists-absent-file (fatal)"});
  CHECK(of_archive({.record = ""}) == Kinds{"record-missing (fatal)"});
  Cell without_digest;
  without_digest.record = "kern/ops.abi3.so,,\nkern-1.0.dist-info/RECORD,,\n";
  CHECK(of_archive(without_digest) == Kinds{"record-without-digest"});
}

TEST_CASE("RECORD names the archive's places, the files their installed ones", "[wheel_integrity]") {
  Cell cell;
  cell.record +=
      "kern-1.0.data/purelib/kern/extra.py,sha256=abc,3\nkern-1.0.data/platlib/kern/b.py,sha256=abc,3\n"
      "kern-1.0.data/scripts/kern,sha256=abc,3\nkern-1.0.data/data/share/a.txt,sha256=abc,3\n";
  cell.files.emplace_back("kern/extra.py");
  cell.files.emplace_back("kern/b.py");
  CHECK(of_archive(cell) == Kinds{});
  cell.files.pop_back();
  CHECK(of_archive(cell) == Kinds{"record-lists-absent-file (fatal)"});
}

TEST_CASE("defects that make readers disagree are fatal, others are said", "[wheel_integrity]") {
  const auto defect = [](const char* rule, int ambiguous) {
    return compatrix_defect{sizeof(compatrix_defect), rule, ambiguous, "kern/a.py", 7, "it is so"};
  };
  CHECK(of_archive({.defects = {defect("duplicate-entry", 1)}}) == Kinds{"duplicate-entry (fatal)"});
  CHECK(of_archive({.defects = {defect("record-hash-mismatch", 0)}}) == Kinds{"record-hash-mismatch (fatal)"});
  CHECK(of_archive({.defects = {defect("data-descriptor", 0)}}) == Kinds{"data-descriptor"});
}

TEST_CASE("what METADATA requires is held against the cell's versions", "[wheel_integrity]") {
  Cell cell;
  cell.others = {{"torch", "2.10.0+cu128"}};
  for (const auto& [requirement, met] : {std::pair{"torch==2.10.0", true},
                                         {"torch==2.9.1", false},
                                         {"torch>=2.10", true},
                                         {"torch<2.10", false},
                                         {"torch==2.9.1; sys_platform == 'win32'", true},
                                         {"torch==2.9.1; extra == 'old'", true},
                                         {"Numpy<2", true}}) {
    INFO(requirement);
    cell.metadata =
        std::string("Metadata-Version: 2.1\nName: kern\nVersion: 1.0\nRequires-Dist: ") + requirement + "\n";
    const auto found = examine(cell, &examine_metadata);
    CHECK(kinds(found) == (met ? Kinds{} : Kinds{"requirement-not-met"}));
    for (const Found& each : found) CHECK(each.cause == "dependency-conflict");
  }
}

TEST_CASE("torch that is used and not declared is said without speaking against it", "[wheel_integrity]") {
  for (const auto& [library, uses] :
       std::vector<std::pair<Library, bool>>{{{.needed = {"libtorch_cpu.so"}}, true},
                                             {{.needed = {"libc10_cuda.so"}}, true},
                                             {{.undefined = {"_ZN3c106SymInt19promote_to_negativeEv"}}, true},
                                             {{.undefined = {"_ZNK2at10TensorBase4nameEv"}}, true},
                                             {{.undefined = {"_ZTVN5torch8autograd4NodeE"}}, true},
                                             {{.needed = {"libcudart.so.12"}}, false},
                                             {{.undefined = {"_ZNSt6vectorIiE4sizeEv", "at", "_Z5torchv"}}, false}}) {
    Cell cell{.libraries = {{"kern/ops.abi3.so", library}}};
    INFO((library.needed.empty() ? library.undefined : library.needed).front());
    const auto found = examine(cell, &examine_metadata);
    CHECK(kinds(found) == (uses ? Kinds{"undeclared-torch"} : Kinds{}));
    for (const Found& each : found) CHECK(each.cause.empty());
    cell.metadata += "Requires-Dist: torch\n";
    CHECK(of_metadata(cell) == Kinds{});
  }
}

TEST_CASE("the file name's tag and WHEEL's are the same set", "[wheel_integrity]") {
  Cell other;
  other.wheel = "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp310-abi3-linux_x86_64\n";
  CHECK(of_metadata(other) == Kinds{"tag-mismatch"});
  Cell compressed;
  compressed.file_name = "kern-1.0-cp310-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64.whl";
  CHECK(of_metadata(compressed) == Kinds{"tag-mismatch"});
  compressed.wheel += "Tag: cp310-abi3-manylinux2014_x86_64\n";
  CHECK(of_metadata(compressed) == Kinds{});
}

TEST_CASE("a glibc above the one that the tag promises is the platform's fault", "[wheel_integrity]") {
  const auto needing = [](const char* version) {
    return Cell{.libraries = {{"kern/ops.abi3.so",
                               {.version_needs = {{"libc.so.6", "GLIBC_2.2.5", 0},
                                                  {"libc.so.6", version, 0},
                                                  {"libstdc++.so.6", "GLIBCXX_3.4.32", 0},
                                                  {"libc.so.6", "GLIBC_PRIVATE", 0}}}}}};
  };
  CHECK(of_metadata(needing("GLIBC_2.17")) == Kinds{});
  const auto found = examine(needing("GLIBC_2.28"), &examine_metadata);
  CHECK(kinds(found) == Kinds{"glibc-above-tag"});
  REQUIRE(found.size() == 1);
  CHECK(found[0].cause == "platform");
  CHECK(found[0].file == "kern/ops.abi3.so");
  Cell unpromised = needing("GLIBC_2.28");
  unpromised.file_name = "kern-1.0-cp310-abi3-linux_x86_64.whl";
  unpromised.wheel = "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp310-abi3-linux_x86_64\n";
  CHECK(of_metadata(unpromised) == Kinds{});
}

TEST_CASE("a file that is named for another distribution or version is corrupt", "[wheel_integrity]") {
  CHECK(of_metadata({.file_name = "kern-1.1-cp310-abi3-manylinux_2_17_x86_64.whl"}) == Kinds{"name-mismatch (fatal)"});
  CHECK(of_metadata({.file_name = "Kern-1.0.0-cp310-abi3-manylinux_2_17_x86_64.whl"}) == Kinds{});
  CHECK(of_metadata({.metadata = ""}).size() == 1);
}

TEST_CASE("without the facts of a file nothing is concluded", "[wheel_integrity]") {
  Cell cell;
  cell.libraries.clear();
  CHECK_THROWS_AS(of_metadata(cell), compatrix::sdk::FactsUnavailable);
}

TEST_CASE("a module named for the stable ABI uses nothing of CPython but that, as of the tag's release",
          "[wheel_integrity]") {
  Cell cell;
  cell.libraries["kern/ops.abi3.so"].undefined = {"PyModule_Create2", "malloc"};
  CHECK(examine(cell, &examine_stable_abi).empty());
  cell.libraries["kern/ops.abi3.so"].undefined = {"_PyObject_GetDictPtr", "PyObject_GetBuffer"};
  const auto found = examine(cell, &examine_stable_abi);
  REQUIRE(kinds(found) == Kinds{"abi3-misuse", "abi3-misuse"});
  CHECK(found[0].message ==
        "kern/ops.abi3.so is named for the stable ABI and uses _PyObject_GetDictPtr, which is not part of it");
  CHECK(found[1].message ==
        "kern/ops.abi3.so is named for the stable ABI and uses PyObject_GetBuffer, which is part of it since a later "
        "CPython: the tag promises 3.10, it takes 3.11");
  for (const Found& each : found) CHECK((each.cause == "python-abi" && !each.fatal));
  // An installed distribution has its tags in WHEEL.
  cell.file_name = "";
  CHECK(examine(cell, &examine_stable_abi).size() == 2);
  cell.wheel = "Wheel-Version: 1.0\nTag: cp311-abi3-manylinux_2_17_x86_64\n";
  CHECK(examine(cell, &examine_stable_abi).size() == 1);
}

TEST_CASE("a module for one CPython may use all of its API", "[wheel_integrity]") {
  Cell cell;
  cell.files = {"kern/ops.cpython-311-x86_64-linux-gnu.so"};
  cell.libraries = {{"kern/ops.cpython-311-x86_64-linux-gnu.so", {.undefined = {"_PyObject_GetDictPtr"}}}};
  CHECK(examine(cell, &examine_stable_abi).empty());
}
