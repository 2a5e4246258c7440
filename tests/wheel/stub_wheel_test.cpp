#include "framework/wheel/stub_wheel.h"

#include <catch2/catch_all.hpp>

#include "framework/bytes/digest.h"
#include "framework/bytes/random_access.h"
#include "framework/wheel/lock.h"
#include "framework/wheel/zip.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/wheel_writer.h"

using namespace compatrix;
using Catch::Matchers::ContainsSubstring;

namespace {

wheel::StubWheel stub_of(const support::ScratchFolder& folder, const std::string& metadata_lines = "") {
  const auto path = folder.write(
      "kern-1.0-cp311-cp311-linux_x86_64.whl",
      support::write_wheel("kern", "1.0", "cp311-cp311-linux_x86_64",
                           {{.name = "kern/ops.so", .content = std::string(1U << 20, 'x')}}, metadata_lines));
  return wheel::write_stub_wheel(path, "ab12", folder.path() / "stub").value();
}

}  // namespace

TEST_CASE("a stub has its wheel's name and METADATA and none of its files", "[stub]") {
  const support::ScratchFolder folder;
  const wheel::StubWheel stub = stub_of(folder, "Requires-Dist: torch==2.9.1\n");
  CHECK(stub.stub.filename() == stub.wheel.filename());
  REQUIRE(stub.metadata);
  CHECK(stub.metadata->requires_dist == std::vector<std::string>{"torch==2.9.1"});
  const auto archive = open_local_file(stub.stub).value();
  CHECK(archive->size() < 4096);
  CHECK(sha256_of(*archive).value() == stub.stub_sha256);
  const auto directory = wheel::read_zip_directory(*archive).value();
  CHECK(directory.entries.size() == 3);
  CHECK(directory.defects.empty());
}

TEST_CASE("a lock names the real wheel where it named the stub, and nothing else changes", "[stub]") {
  const support::ScratchFolder folder;
  const wheel::StubWheel stub = stub_of(folder);
  const std::string lock =
      "before\narchive = { path = \"/tmp/x.whl\", hashes = { sha256 = \"" + stub.stub_sha256 + "\" } }\nafter\n";
  const std::string named = wheel::name_real_wheel(lock, stub).value();
  CHECK(named.starts_with("before\n"));
  CHECK(named.ends_with("\nafter\n"));
  CHECK_THAT(named, ContainsSubstring(stub.wheel.string()) && ContainsSubstring("ab12"));
  const auto other = wheel::name_real_wheel("archive = {}", stub);
  REQUIRE_FALSE(other);
  CHECK_THAT(other.error().text(), ContainsSubstring("does not name this wheel"));
}

TEST_CASE("wheels that require nothing are locked without a resolver, others are not", "[stub]") {
  const support::ScratchFolder folder, second;
  const auto lock = wheel::lock_of_independent({stub_of(folder)}, "3.11");
  REQUIRE(lock);
  const auto read = wheel::read_lock(folder.write("pylock.toml", *lock), {}).value();
  REQUIRE(read.wheels.size() == 1);
  CHECK(read.wheels[0].project == "kern");
  CHECK(read.wheels[0].sha256 == "ab12");
  CHECK_FALSE(wheel::lock_of_independent({stub_of(second, "Requires-Dist: torch\n")}, "3.11"));
  CHECK_FALSE(wheel::lock_of_independent({stub_of(second, "Requires-Python: >=3.12\n")}, "3.11"));
}

TEST_CASE("a requirement is a wheel of this machine by its name", "[stub]") {
  CHECK(wheel::is_local_wheel("/a/kern-1.0-py3-none-any.whl"));
  CHECK_FALSE(wheel::is_local_wheel("kern==1.0"));
  CHECK_FALSE(wheel::is_local_wheel("https://host/kern-1.0-py3-none-any.whl"));
}
