// Files of a wheel in a cell that declares its platform: what the simulated linker says of them depends on nothing of
// this machine.
#include <fstream>
#include <iterator>

#include <catch2/catch_all.hpp>

#include "framework/facts/extract.h"
#include "tests/linker/real_linker.h"

using namespace compatrix;

namespace {

constexpr const char* kKey = "wheel";

// A cell with one wheel that has the case's root.so, on a platform.
struct PlatformCell {
  support::ScratchFolder folder;
  facts::FactStore store{folder.path()};
  compatrix::WheelLibrary wheels{store};
  compatrix::linker::Relatives relatives;

  explicit PlatformCell(const std::string& name) {
    std::ifstream in(support::root_of(name), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    facts::LibraryCollector collector(bytes.size());
    collector.append(std::as_bytes(std::span(bytes)));
    REQUIRE(store.put_library(kKey, "root.so", collector.encode(facts::RecordAgreement::matches)));
    facts::WheelFacts wheel;
    wheel.file_name = "case-1-py3-none-any.whl";
    wheel.sha256 = kKey;
    wheel.directory.entries.push_back({.name = "root.so", .size = bytes.size()});
    REQUIRE(store.put_wheel(wheel));
  }

  std::string outcome_on(const std::string& platform) {
    Environment environment{.machine = platform_named(platform)->machine,
                            .platform = platform,
                            .interpreter = std::filesystem::canonical(support::kProbe),
                            .site_packages = "/cell/lib/python3.11/site-packages"};
    environment.distributions.push_back({.name = "case", .version = "1", .sha256 = kKey});
    CellFiles files(environment, wheels);
    linker::Process process(files, relatives);
    return support::word(process.try_open("root.so"));
  }
};

}  // namespace

TEST_CASE("a version above the declared platform's is refused in the loader's words, whatever this machine has",
          "[linker][platform]") {
  PlatformCell cell("new_glibc");
  CHECK(cell.outcome_on("debian12") == "loads");
  CHECK(cell.outcome_on("ubuntu24.04") == "loads");
  CHECK(cell.outcome_on("rhel8") == "/lib64/libc.so.6: version `GLIBC_2.36' not found (required by root.so)");
  CHECK(cell.outcome_on("ubuntu22.04") ==
        "/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.36' not found (required by root.so)");
}

TEST_CASE("a function that is asked for without a version is there from the glibc on that brought it",
          "[linker][platform]") {
  PlatformCell cell("without_libc");
  CHECK(cell.outcome_on("debian12") == "loads");
  CHECK(cell.outcome_on("rhel9") == "root.so: undefined symbol: arc4random");
}

TEST_CASE("a file of another machine than the declared one is no library there", "[linker][platform]") {
#ifdef __x86_64__
  PlatformCell cell("new_glibc");
  CHECK_THAT(cell.outcome_on("debian12-aarch64"), Catch::Matchers::ContainsSubstring("cannot open shared object file"));
#else
  SKIP("the fixtures are x86_64's or aarch64's own");
#endif
}

TEST_CASE("nothing but its runtimes is taken to be on a platform", "[linker][platform]") {
  PlatformCell cell("missing");
  CHECK_THAT(cell.outcome_on("debian12"),
             Catch::Matchers::EndsWith("cannot open shared object file: No such file or directory"));
}
