// What other tools have been seen to get wrong about the dynamic linker; the real one is asked in every case.
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

namespace {

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("each trap ends as in the real linker, in the same words", "[linker]") {
  const std::string name = GENERATE("versions_lost", "unique", "indirect", "symbolic", "undefined_data",
                                    "static_tls_fits", "static_tls_exceeds", "slash", "no_default", "circle", "relr");
  CAPTURE(name);
  Simulated simulated;
  const std::string real = real_outcome({root_of(name)});
  CHECK(word(simulated.process.try_open(root_of(name))) == real.substr(0, real.starts_with("crash: ") ? 5 : real.npos));
}

TEST_CASE("the traps are what they are said to be", "[linker]") {
  using Catch::Matchers::ContainsSubstring;
  CHECK(real_outcome({root_of("versions_lost")}) == "crash: exit 127");
  for (const char* name : {"unique", "indirect", "symbolic", "static_tls_fits", "circle"})
    CHECK(real_outcome({root_of(name)}) == "loads");
  CHECK_THAT(real_outcome({root_of("undefined_data")}), ContainsSubstring("undefined symbol: fixture_data"));
  CHECK_THAT(real_outcome({root_of("static_tls_exceeds")}), ContainsSubstring("static TLS block"));
  CHECK_THAT(real_outcome({root_of("slash")}), ContainsSubstring("no/such/liba.so: cannot open"));
  CHECK_THAT(real_outcome({root_of("no_default")}), ContainsSubstring("libutil.so.1: cannot open"));
}

TEST_CASE("a loaded library without a soname answers for no name", "[linker]") {
  const std::string library = kFixtures + "/cases/no_soname/liba.so";
  Simulated simulated;
  simulated.process.open(library, linker::Process::Visibility::global);
  const std::string said = word(simulated.process.try_open(root_of("missing")));
  CHECK(said == real_outcome({"GLOBAL:" + library, root_of("missing")}));
  CHECK_THAT(said, Catch::Matchers::StartsWith("liba.so: cannot open"));
}

TEST_CASE("a loaded library of that soname is held against the versions, though the right one lies in the runpath",
          "[linker]") {
  const std::string library = kFixtures + "/cases/version_gone/liba.so";
  Simulated simulated;
  simulated.process.open(library, linker::Process::Visibility::local);
  const std::string said = word(simulated.process.try_open(root_of("versioned")));
  CHECK(said == real_outcome({library, root_of("versioned")}));
  CHECK_THAT(said, Catch::Matchers::ContainsSubstring("version `FIXTURE_1' not found"));
}

TEST_CASE("$ORIGIN is the folder of the path that was opened, not of the file behind a link", "[linker]") {
  const support::ScratchFolder folder;
  const std::string link = (folder.path() / "root.so").string();
  std::filesystem::create_symlink(root_of("origin"), link);
  Simulated simulated;
  const std::string said = word(simulated.process.try_open(link));
  CHECK(said == real_outcome({link}));
  CHECK(said != "loads");
}

TEST_CASE("a file opened by two paths is one library", "[linker]") {
  const support::ScratchFolder folder;
  const std::string link = (folder.path() / "other_name.so").string(),
                    library = kFixtures + "/cases/missing_parts/liba.so";
  std::filesystem::create_symlink(library, link);
  Simulated simulated;
  simulated.process.open(link, linker::Process::Visibility::local);
  simulated.process.open(library, linker::Process::Visibility::global);
  CHECK(word(simulated.process.try_open(root_of("undefined"))) ==
        real_outcome({link, "GLOBAL:" + library, root_of("undefined")}));
  CHECK(word(simulated.process.try_open(root_of("undefined"))) == "loads");
}

TEST_CASE("a file without section headers is judged like any other", "[linker]") {
  const support::ScratchFolder folder;
  for (const char* name : {"undefined", "transitive"}) {
    std::string bytes = bytes_of(root_of(name));
    for (const auto& [at, size] : {std::pair{40, 8}, std::pair{58, 6}})  // e_shoff; e_shentsize, e_shnum, e_shstrndx
      std::fill_n(bytes.begin() + at, size, '\0');
    const std::string file = folder.write("root.so", bytes).string();
    Simulated simulated;
    CHECK(word(simulated.process.try_open(file)) == real_outcome({file}));
  }
}

TEST_CASE("a file of another machine or class is passed over on the search and refused by name", "[linker]") {
  const support::ScratchFolder folder;
  std::string machine = bytes_of(root_of("origin")), width = machine;
  machine[18] = '\xb7', machine[19] = 0;  // EM_AARCH64, or EM_X86_64's low byte lost where this is AArch64
  if (machine == bytes_of(root_of("origin"))) machine[18] = '\x3e';
  width[4] = 1;  // ELFCLASS32
  for (const std::string& bytes : {machine, width}) {
    const std::string file = folder.write("root.so", bytes).string();
    Simulated simulated;
    CHECK(word(simulated.process.try_open(file)) == real_outcome({file}));
  }
}

TEST_CASE("code for a level of the ISA is refused where the processor lacks it", "[linker]") {
  const std::string file = root_of("isa_level");
  if (!std::filesystem::exists(file)) SKIP("levels of the ISA are known for x86-64 only");
  Simulated simulated;
  CHECK(word(simulated.process.try_open(file)) == real_outcome({file}));
}
