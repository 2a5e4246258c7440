#include "framework/environment/environment.h"

#include <catch2/catch_all.hpp>
#include <nlohmann/json.hpp>

#include "framework/base/subprocess.h"
#include "framework/elf/elf_file.h"
#include "framework/environment/cell_files.h"
#include "framework/environment/interpreter.h"
#include "framework/environment/loader_cache.h"
#include "tests/support/scratch_folder.h"

using namespace compatrix;

TEST_CASE("this machine's loader cache is read as ldconfig prints it", "[environment]") {
  const auto printed = run_program({.arguments = {"/sbin/ldconfig", "-p"}, .environment = {}});
  if (!printed || printed->exit_code != 0) SKIP("ldconfig can't be run here");
  const auto cache = read_loader_cache("/etc/ld.so.cache", elf::EM_X86_64);
  REQUIRE(cache.contains("libc.so.6"));
  // "	libc.so.6 (libc6,x86-64) => /lib/…"
  std::size_t compared = 0;
  for (std::size_t at = 0; at < printed->output.size();) {
    const std::size_t end = std::min(printed->output.find('\n', at), printed->output.size());
    const std::string line = printed->output.substr(at, end - at);
    at = end + 1;
    const std::size_t kind = line.find(" (libc6,x86-64"), arrow = line.find(") => ");
    if (kind == std::string::npos || arrow == std::string::npos || line.find("hwcap") != std::string::npos) continue;
    const std::string name = line.substr(1, kind - 1);
    REQUIRE(cache.contains(name));
    ++compared;
  }
  CHECK(compared >= cache.size());
}

TEST_CASE("a cache of another format is refused", "[environment]") {
  const std::string text = "ld.so-1.7.0 and then something else, long enough to be a header";
  CHECK_THROWS_AS(parse_loader_cache(ByteView(std::as_bytes(std::span(text))), elf::EM_X86_64), FormatError);
}

TEST_CASE("an environment survives its way to a worker", "[environment]") {
  Environment environment{
      .python = "3.12", .machine = "x86_64", .interpreter = "/usr/bin/python3", .site_packages = "/cell/site"};
  environment.distributions.push_back(
      {.name = "torch", .version = "2.10.0+cu130", .requested = true, .file_name = "t.whl", .sha256 = "ab"});
  const Environment again = environment_from_json(nlohmann::json::parse(to_json(environment).dump()));
  CHECK(again.python == "3.12");
  REQUIRE(again.distributions.size() == 1);
  CHECK(again.distributions[0].version == "2.10.0+cu130");
  CHECK(again.distributions[0].requested);
}

TEST_CASE("an unknown member of a known wheel is wanted, an unknown path is absent", "[environment]") {
  const support::ScratchFolder folder;
  const facts::FactStore store(folder.path());
  facts::WheelFacts known;
  known.sha256 = "dd";
  known.directory.entries.push_back({.name = "made/lib/liba.so"});
  REQUIRE(store.put_wheel(known));
  WheelLibrary wheels(store);
  Environment environment{.site_packages = "/cell/lib/python3.11/site-packages"};
  environment.distributions.push_back({.name = "made", .version = "1", .file_name = "m.whl", .sha256 = "dd"});
  CellFiles files(environment, wheels);
  const std::string site = environment.site_packages.string();
  CHECK(files.open(site + "/made/lib/../lib/liba.so").state == FileAnswer::State::wanted);
  REQUIRE(files.take_wants() == std::vector<Want>{{.sha256 = "dd", .member = "made/lib/liba.so"}});
  CHECK(files.open(site + "/made/none/../lib/liba.so").state == FileAnswer::State::absent);
  CHECK(files.open("/cell/lib/liba.so").state == FileAnswer::State::absent);
  CHECK(files.open("/lib64/ld-linux-x86-64.so.2").from_system);
  CHECK_FALSE(files.has_wants());
}

TEST_CASE("an interpreter's exports are kept for a machine that has none", "[environment]") {
  const auto python = find_interpreter("3.11");
  if (python.empty()) SKIP("there is no CPython 3.11 on this machine");
  const support::ScratchFolder folder;
  const facts::FactStore store(folder.path());
  WheelLibrary wheels(store);
  const Environment without{.python = "3.11", .site_packages = "/cell/lib/python3.11/site-packages"};
  CHECK(CellFiles(without, wheels).kept_interpreter() == nullptr);
  REQUIRE(keep_interpreter_facts(store, python, "3.11", "x86_64"));
  const auto kept = CellFiles(without, wheels).kept_interpreter();
  REQUIRE(kept != nullptr);
  CHECK(kept->symbol_count() > 100);
}

TEST_CASE("an interpreter says what it is; what is none is told so", "[environment]") {
  const auto python = find_interpreter("3.11");
  if (python.empty()) SKIP("there is no CPython 3.11 on this machine");
  const auto layout = layout_of(python);
  REQUIRE(layout);
  CHECK(layout->version == "3.11");
  CHECK_FALSE(layout->site_packages.empty());
  CHECK_FALSE(layout_of("/bin/true"));
  CHECK(find_interpreter("3.99").empty());
}
