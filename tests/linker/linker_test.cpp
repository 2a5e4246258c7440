// Each case is opened by the real dynamic linker and by ours, and both must say the same, to the letter.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <catch2/catch_all.hpp>

#include "tests/linker/real_linker.h"

using namespace compatrix;

using support::kFixtures;
using support::real_outcome;
using support::root_of;
using support::Simulated;
using support::word;

TEST_CASE("every case ends as the real linker ends it, in the same words", "[linker]") {
  const std::string name =
      GENERATE("origin", "rpath_inherited", "runpath_inherited", "undefined", "weak_undefined", "missing", "versioned",
               "version_gone", "unversioned_user", "transitive", "sysv_hash", "hidden");
  CAPTURE(name);
  Simulated simulated;
  CHECK(word(simulated.process.try_open(root_of(name))) == real_outcome({root_of(name)}));
}

TEST_CASE("the cases are not all alike", "[linker]") {
  CHECK(real_outcome({root_of("origin")}) == "loads");
  CHECK_THAT(real_outcome({root_of("undefined")}), Catch::Matchers::ContainsSubstring("undefined symbol: fixture_a"));
  CHECK_THAT(real_outcome({root_of("runpath_inherited")}),
             Catch::Matchers::ContainsSubstring("liba.so: cannot open shared object file"));
  CHECK_THAT(real_outcome({root_of("version_gone")}),
             Catch::Matchers::ContainsSubstring("version `FIXTURE_1' not found"));
}

TEST_CASE("a library that is loaded already answers for its soname, and for its symbols only when it is global",
          "[linker]") {
  const std::string library = kFixtures + "/cases/missing_parts/liba.so";
  for (const std::string& root : {root_of("missing"), root_of("undefined")}) {
    for (const bool global : {false, true}) {
      CAPTURE(root, global);
      Simulated simulated;
      simulated.process.open(library,
                             global ? linker::Process::Visibility::global : linker::Process::Visibility::local);
      CHECK(word(simulated.process.try_open(root)) == real_outcome({(global ? "GLOBAL:" : "") + library, root}));
    }
  }
}

TEST_CASE("a file of another kind, cut short or not there ends as in the real linker", "[linker]") {
  const support::ScratchFolder folder;
  std::ifstream in(root_of("origin"), std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  const std::string text =
      folder.write("text.so", "this is no library\n, whatever its name says; it is long enough to hold a header")
          .string();
  const std::string cut = folder.write("cut.so", whole.substr(0, 5000)).string();
  Simulated simulated;
  CHECK_THAT(real_outcome({text}), Catch::Matchers::EndsWith("invalid ELF header"));
  CHECK_THAT(word(simulated.process.try_open(text)), Catch::Matchers::ContainsSubstring("invalid ELF header"));
  CHECK(real_outcome({cut}) == "crash: SIGBUS");
  CHECK(word(simulated.process.try_open(cut)) == "crash");
  CHECK(word(simulated.process.try_open("/no/such/file.so")) == real_outcome({"/no/such/file.so"}));
}

TEST_CASE("every obstacle is told, not the first alone", "[linker]") {
  Simulated simulated;
  const auto report = simulated.process.try_open(kFixtures + "/torch/kern_cuda12/ops.abi3.so");
  CHECK(report.outcome == linker::Outcome::fails);
  std::vector<std::string> missing, undefined;
  for (const linker::Problem& problem : report.problems)
    (problem.kind == linker::ProblemKind::library_not_found ? missing : undefined)
        .push_back(problem.library + problem.demangled);
  CHECK(missing == std::vector<std::string>{"libc10.so", "libtorch_cpu.so", "libcudart.so.12"});
  // cudaMiniature carries libcudart.so.12's version: the missing library would have brought it.
  std::sort(undefined.begin(), undefined.end());
  CHECK(undefined ==
        std::vector<std::string>{"at::unchanged(int)", "c10::MessageLogger::MessageLogger(char const*, int, int)",
                                 "c10::cuda::c10_cuda_check_implementation(int, char const*, char const*, int, bool)"});
  CHECK_FALSE(report.problems.front().searched.empty());
}

TEST_CASE("a changed signature is shown beside what is there instead", "[linker]") {
  Simulated simulated;
  simulated.process.open(kFixtures + "/torch/cudart12/libcudart.so.12", linker::Process::Visibility::global);
  simulated.process.open(kFixtures + "/torch/torch2_cuda12/libtorch_cpu.so", linker::Process::Visibility::local);
  const auto report = simulated.process.try_open(kFixtures + "/torch/kern_cuda12/ops.abi3.so");
  REQUIRE(report.problems.size() == 2);
  for (const linker::Problem& problem : report.problems) CHECK(problem.expected_in == "libc10.so");
  std::vector<std::string> instead;
  for (const linker::Problem& problem : report.problems)
    instead.insert(instead.end(), problem.instead.begin(), problem.instead.end());
  std::sort(instead.begin(), instead.end());
  CHECK(instead == std::vector<std::string>{
                       "c10::MessageLogger::MessageLogger(char const*, int, int, bool)",
                       "c10::cuda::c10_cuda_check_implementation(int, char const*, char const*, unsigned int, bool)"});
}

TEST_CASE("a failed open and a tried one leave the process as it was", "[linker]") {
  Simulated simulated;
  const auto before = simulated.process.try_open(root_of("undefined")).message;
  simulated.process.open(root_of("missing"), linker::Process::Visibility::global);
  CHECK(word(simulated.process.try_open(root_of("origin"))) == "loads");
  CHECK(simulated.process.try_open(root_of("undefined")).message == before);
}

TEST_CASE("an assumed library brings the symbols of its prefix and no others", "[linker]") {
  Simulated simulated;
  simulated.process.assume_library({"liba.so", "fixture_"});
  const auto report = simulated.process.try_open(root_of("missing"));
  CHECK(report.outcome == linker::Outcome::loads);
  CHECK(report.assumed == std::vector<std::string>{"liba.so"});
  Simulated other;
  other.process.assume_library({"liba.so", "else_"});
  CHECK(word(other.process.try_open(root_of("missing"))) == root_of("missing") + ": undefined symbol: fixture_a");
}

TEST_CASE("without any interpreter what begins with Py counts as there, and nothing else does", "[linker]") {
  const support::ScratchFolder folder;
  WheelLibrary wheels{facts::FactStore(folder.path())};
  linker::Relatives relatives;
  CellFiles files{Environment{.python = "3.99", .site_packages = "/nowhere", .installed = true}, wheels};
  linker::Process process{files, relatives};
  CHECK(process.try_open(kFixtures + "/cases/python_user/root.so").outcome == linker::Outcome::loads);
  CHECK(process.try_open(root_of("undefined")).outcome == linker::Outcome::fails);
}
