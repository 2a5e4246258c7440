#include "framework/wheel/lock.h"

#include <catch2/catch_all.hpp>

#include "tests/support/scratch_folder.h"
#include "tests/support/wheel_writer.h"

using namespace compatrix;
using Catch::Matchers::ContainsSubstring;

namespace {

wheel::Lock read(const std::string& text) {
  const support::ScratchFolder folder;
  return wheel::read_lock(folder.write("pylock.toml", text), {}).value();
}

}  // namespace

TEST_CASE("of a package's wheels the one that suits the target best is taken", "[lock]") {
  const auto lock = read(R"(lock-version = "1.0"
[[packages]]
name = "Made_Up"
version = "1.0+cu130"
wheels = [
  { url = "https://host/made_up-1.0%2Bcu130-cp312-cp312-manylinux_2_28_x86_64.whl", size = 1, hashes = { sha256 = "aa" } },
  { url = "https://host/made_up-1.0%2Bcu130-cp311-cp311-manylinux_2_17_x86_64.whl", size = 2, hashes = { sha256 = "bb" } },
  { url = "https://host/made_up-1.0%2Bcu130-cp311-cp311-manylinux_2_28_x86_64.whl", size = 3, hashes = { sha256 = "cc" } },
  { url = "https://host/made_up-1.0%2Bcu130-cp311-cp311-manylinux_2_39_x86_64.whl", size = 4, hashes = { sha256 = "dd" } },
  { url = "https://host/made_up-1.0%2Bcu130-py3-none-any.whl", size = 5, hashes = { sha256 = "ee" } },
]
[[packages]]
name = "elsewhere"
version = "1"
marker = "sys_platform == 'win32'"
[[packages]]
name = "old"
version = "2"
wheels = [{ url = "https://host/old-2-py39-none-manylinux_2_28_x86_64.whl" }]
)");
  REQUIRE(lock.wheels.size() == 2);
  CHECK(lock.wheels[0].project == "made-up");
  CHECK(lock.wheels[0].sha256 == "cc");
  CHECK(lock.wheels[0].file_name == "made_up-1.0+cu130-cp311-cp311-manylinux_2_28_x86_64.whl");
  CHECK(lock.wheels[1].project == "old");
}

TEST_CASE("a lock that can't serve says why", "[lock]") {
  const support::ScratchFolder folder;
  const auto error_of = [&](const std::string& text) {
    return wheel::read_lock(folder.write("pylock.toml", text), {}).error().text();
  };
  CHECK_THAT(
      error_of("[[packages]]\nname = \"made\"\nversion = \"1\"\nsdist = { url = \"https://h/made-1.tar.gz\" }\n"),
      ContainsSubstring("made 1 has no wheel for CPython 3.11 on x86_64"));
  CHECK_THAT(error_of("not toml at all"), ContainsSubstring("pylock.toml:1:") && ContainsSubstring("is no TOML"));
  CHECK_THAT(error_of("a = 1\n"), ContainsSubstring("has no [[packages]]"));
  CHECK_THAT(error_of("lock-version = \"2.0\"\n"), ContainsSubstring("has lock-version 2.0, only 1.x is known"));
  const std::string made =
      "[[packages]]\nname = \"made\"\nwheels = [{ url = \"https://h/made-1-py3-none-any.whl\" }]\n";
  CHECK_THAT(error_of(made + made), ContainsSubstring("made is locked twice for this target"));
}

TEST_CASE("uv locks wheels of a folder, and an override lets a forbidden pair pass", "[lock]") {
  if (!wheel::find_uv()) SKIP("uv is not there (COMPATRIX_UV or PATH)");
  const support::ScratchFolder folder;
  for (const char* version : {"1.0", "2.0"})
    folder.write("wheels/base_made-" + std::string(version) + "-py3-none-any.whl",
                 support::write_wheel("base_made", version, "py3-none-any", {}));
  folder.write("wheels/kern_made-1.0-py3-none-any.whl",
               support::write_wheel("kern_made", "1.0", "py3-none-any", {}, "Requires-Dist: base-made==1.0\n"));
  wheel::LockRequest request{
      .requirements = {"base-made==2.0", "kern-made"}, .find_links = {folder.path() / "wheels"}, .index = {}};
  const auto file = folder.path() / "locks" / "a.toml";
  setenv("UV_NO_INDEX", "1", 1);
  const auto locked = wheel::write_lock(request, file);
  REQUIRE(locked);
  const auto lock = wheel::read_lock(file, request.target);
  REQUIRE(lock);
  REQUIRE(lock->wheels.size() == 2);
  CHECK(lock->wheels[0].version == "2.0");
  CHECK(std::filesystem::exists(lock->wheels[0].path));
  request.requirements = {"never-made==9"};
  const auto refused = wheel::write_lock(request, folder.path() / "locks" / "b.toml");
  unsetenv("UV_NO_INDEX");
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().text(), ContainsSubstring("never-made==9: can't be locked"));
  CHECK_FALSE(std::filesystem::exists(folder.path() / "locks" / "b.toml"));
}

TEST_CASE("a wheel that was named by its path overrides what others demand of its project", "[lock]") {
  if (!wheel::find_uv()) SKIP("uv is not there (COMPATRIX_UV or PATH)");
  const support::ScratchFolder folder;
  const auto base = folder.write("with blank/base_made-2.0+cu130-py3-none-any.whl",
                                 support::write_wheel("base_made", "2.0+cu130", "py3-none-any", {}));
  folder.write("wheels/kern_made-1.0-py3-none-any.whl",
               support::write_wheel("kern_made", "1.0", "py3-none-any", {}, "Requires-Dist: base-made==1.0\n"));
  wheel::LockRequest request{
      .requirements = {base.string(), "kern-made"}, .find_links = {folder.path() / "wheels"}, .index = {}};
  request.target.glibc = "2.41";  // uv has no name for a platform with this one
  setenv("UV_NO_INDEX", "1", 1);
  const auto locked = wheel::write_lock(request, folder.path() / "a.toml");
  unsetenv("UV_NO_INDEX");
  REQUIRE(locked);
  const auto lock = wheel::read_lock(folder.path() / "a.toml", request.target);
  REQUIRE(lock);
  REQUIRE(lock->wheels.size() == 2);
  CHECK(lock->wheels[0].path == base);
  CHECK(lock->wheels[0].version == "2.0+cu130");
}

TEST_CASE("what is no requirement never reaches uv", "[lock]") {
  const support::ScratchFolder folder;
  const auto refusal_of = [&](const std::string& requirement) {
    return wheel::write_lock({.requirements = {requirement}, .find_links = {}, .index = {}}, folder.path() / "a.toml")
        .error()
        .text();
  };
  CHECK_THAT(refusal_of("--index-url http://127.0.0.1:9/"), ContainsSubstring("is no requirement"));
  CHECK_THAT(refusal_of("-rfile"), ContainsSubstring("is no requirement"));
  CHECK_THAT(refusal_of("made==1\n--pre"), ContainsSubstring("is more than one line"));
  CHECK_THAT(refusal_of("made==nonsense"), ContainsSubstring("is no version"));
  CHECK_THAT(refusal_of("/none/made-1-py3-none-any.whl"), ContainsSubstring("is no file"));
  CHECK_THAT(refusal_of("/none/made.whl"), ContainsSubstring("is no wheel's file name"));
}

TEST_CASE("an index that is away is one sentence with its address and without credentials", "[lock]") {
  if (!wheel::find_uv()) SKIP("uv is not there (COMPATRIX_UV or PATH)");
  const support::ScratchFolder folder;
  const char* before = std::getenv("UV_DEFAULT_INDEX");
  const std::string kept = before == nullptr ? "" : before;
  setenv("UV_DEFAULT_INDEX", "http://user:secret@127.0.0.1:9/simple", 1);
  setenv("UV_HTTP_RETRIES", "0", 1);
  const auto refused =
      wheel::write_lock({.requirements = {"made==1"}, .find_links = {}, .index = {}}, folder.path() / "a.toml");
  unsetenv("UV_HTTP_RETRIES");
  unsetenv("UV_DEFAULT_INDEX");
  if (before != nullptr) setenv("UV_DEFAULT_INDEX", kept.c_str(), 1);
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().text(), ContainsSubstring("the index can't be read at http://127.0.0.1:9/simple/made/"));
  CHECK_THAT(refused.error().text(), !ContainsSubstring("secret"));
}
