#include "framework/environment/ownership.h"

#include <filesystem>
#include <fstream>

#include <catch2/catch_all.hpp>

#include "framework/bytes/digest.h"
#include "tests/support/scratch_folder.h"

using namespace compatrix;

namespace {

std::string digest_of(const std::string& text) {
  Sha256 digest;
  digest.update(std::as_bytes(std::span(text)));
  return digest.base64url();
}

// An environment on disk whose distributions' RECORDs say what they are told to.
class Installed {
 public:
  explicit Installed(const std::filesystem::path& folder) {
    environment.site_packages = folder;
    environment.installed = true;
  }
  void distribution(const std::string& name, const std::string& record) {
    const auto info = environment.site_packages / (name + "-1.0.dist-info");
    std::filesystem::create_directories(info);
    std::ofstream(info / "RECORD") << record << name << "-1.0.dist-info/RECORD,,\n";
    environment.distributions.push_back({.name = name, .version = "1.0", .dist_info = info});
  }
  void file(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((environment.site_packages / path).parent_path());
    std::ofstream(environment.site_packages / path) << text;
  }
  std::vector<DisputedFile> disputed() {
    WheelLibrary wheels(facts::FactStore(environment.site_packages / "facts"));
    return disputed_files(environment, wheels);
  }
  Environment environment;
};

std::string line(const std::string& path, const std::string& text) {
  return path + ",sha256=" + digest_of(text) + "," + std::to_string(text.size()) + "\n";
}

}  // namespace

TEST_CASE("of two distributions that claim one path, the one whose digest the bytes have owns them", "[ownership]") {
  const support::ScratchFolder folder;
  Installed installed(folder.path());
  installed.distribution("a", line("shared/lib.so", "of a") + line("shared/same.py", "same"));
  installed.distribution("b", line("shared/lib.so", "of b") + line("shared/same.py", "same"));
  installed.file("shared/same.py", "same");

  installed.file("shared/lib.so", "of b");
  auto disputed = installed.disputed();
  REQUIRE(disputed.size() == 1);
  CHECK(disputed[0].path == "shared/lib.so");
  CHECK(disputed[0].claims.size() == 2);
  CHECK(disputed[0].bytes_of == 1);

  installed.file("shared/lib.so", "of nobody");
  disputed = installed.disputed();
  REQUIRE(disputed.size() == 1);
  CHECK_FALSE(disputed[0].bytes_of);
}

TEST_CASE("what RECORD lists and the disk lacks is disputed, but for byte-compiled modules", "[ownership]") {
  const support::ScratchFolder folder;
  Installed installed(folder.path());
  installed.distribution("a", line("a/gone.so", "x") + line("a/there.so", "x") + line("a/__pycache__/m.pyc", "x"));
  installed.file("a/there.so", "anything");
  const auto disputed = installed.disputed();
  REQUIRE(disputed.size() == 1);
  CHECK(disputed[0].path == "a/gone.so");
  CHECK_FALSE(disputed[0].present);
  CHECK_FALSE(disputed[0].bytes_of);
}

TEST_CASE("of wheels that a lock puts side by side, only the claims are known", "[ownership]") {
  const support::ScratchFolder folder;
  const facts::FactStore store(folder.path());
  Environment environment{.site_packages = "/cell/site-packages"};
  for (const std::string name : {"a", "b"}) {
    facts::WheelFacts facts;
    facts.sha256 = name + name;
    facts.record = line("shared/lib.so", name);
    REQUIRE(store.put_wheel(facts));
    environment.distributions.push_back(
        {.name = name, .version = "1.0", .file_name = name + ".whl", .sha256 = name + name});
  }
  WheelLibrary wheels(store);
  const auto disputed = disputed_files(environment, wheels);
  REQUIRE(disputed.size() == 1);
  CHECK(disputed[0].present);
  CHECK_FALSE(disputed[0].bytes_of);
}
