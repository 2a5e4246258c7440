#include "framework/environment/whole_wheel.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include <catch2/catch_all.hpp>

#include "framework/bytes/digest.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/wheel_writer.h"

using namespace compatrix;

namespace {

WholeWheel read(const std::vector<support::ArchiveEntry>& entries) {
  const support::ScratchFolder folder;
  const auto archive =
      open_local_file(folder.write("kern-1.0-py3-none-any.whl", support::write_archive(entries))).value();
  const auto directory = wheel::read_zip_directory(*archive).value();
  std::string record;
  for (const support::ArchiveEntry& entry : entries)
    if (entry.name.ends_with(".dist-info/RECORD")) record = entry.content;
  WholeWheel whole = read_whole_wheel(*archive, directory, record).value();
  CHECK(whole.sha256 == sha256_of(*archive).value());
  return whole;
}

std::vector<support::ArchiveEntry> entries() {
  return support::wheel_entries("kern", "1.0", "py3-none-any",
                                {{.name = "kern/a.py", .content = "a = 1\n"},
                                 {.name = "kern/b.txt", .content = std::string(100000, 'b'), .deflated = true}});
}

support::ArchiveEntry& named(std::vector<support::ArchiveEntry>& entries, const std::string& name) {
  return *std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return entry.name == name; });
}

}  // namespace

TEST_CASE("a wheel whose bytes are what RECORD says has no defects", "[whole]") {
  const WholeWheel whole = read(entries());
  CHECK(whole.defects.empty());
  CHECK(whole.libraries.empty());
}

TEST_CASE("bytes that are not what RECORD says, and members that can't be read, are named", "[whole]") {
  auto changed = entries();
  named(changed, "kern/a.py").content = "a = 2\n";
  named(changed, "kern/b.txt").crc_change = 1;
  const WholeWheel whole = read(changed);
  REQUIRE(whole.defects.size() == 2);
  CHECK(whole.defects[0].rule == "record-hash-mismatch");
  CHECK(whole.defects[0].entry == "kern/a.py");
  CHECK(whole.defects[1].rule == "unreadable-entry");
  CHECK(whole.defects[1].entry == "kern/b.txt");
}

TEST_CASE("facts of libraries are kept on the way, of texts that are only named so they are not", "[whole]") {
  const support::ScratchFolder folder;
  std::ifstream in("/proc/self/exe", std::ios::binary);
  const std::string program{std::istreambuf_iterator<char>(in), {}};
  const WholeWheel whole = read(support::wheel_entries("kern", "1.0", "py3-none-any",
                                                       {{.name = "kern/real.so", .content = program, .deflated = true},
                                                        {.name = "kern/text.so", .content = "no library"}}));
  REQUIRE(whole.libraries.size() == 1);
  CHECK(whole.libraries[0].first == "kern/real.so");
  CHECK_FALSE(whole.libraries[0].second.empty());
}
