#include "framework/elf/elf_file.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include <catch2/catch_all.hpp>

#include "framework/bytes/mapped_file.h"
#include "framework/bytes/owned_bytes.h"

using namespace compatrix;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string content_of(const std::string& fixture) {
  std::ifstream in(std::string(FIXTURES) + "/" + fixture, std::ios::binary);
  REQUIRE(in);
  return {std::istreambuf_iterator<char>(in), {}};
}

auto read(std::string content) {
  return elf::read_elf("fixture", std::make_shared<OwnedBytes>(std::move(content)));
}

std::vector<std::string> names_found(const elf::ElfFile& file, const std::string& name) {
  std::vector<std::uint32_t> found;
  file.find(name, elf::gnu_hash(name), found);
  std::vector<std::string> names;
  for (const std::uint32_t index : found) names.emplace_back(file.symbol_name(index));
  return names;
}

// Reads everything that there is to read; whatever the bytes are, it ends.
void use_all(const elf::ElfFile& file) {
  std::vector<std::uint32_t> found;
  for (const char* name : {"fixture_a", "fixture_use", "nobody"}) file.find(name, elf::gnu_hash(name), found);
  for (std::uint32_t i = 0; i < file.symbol_count(); ++i) {
    static_cast<void>(file.symbol(i));
    if (const auto raw = file.version_index(i)) static_cast<void>(file.version(*raw));
  }
}

}  // namespace

TEST_CASE("a library says what it needs and in which versions", "[elf]") {
  const auto read_file = read(content_of("cases/versioned/root.so"));
  REQUIRE(read_file);
  const elf::ElfFile& file = **read_file;
  CHECK(std::find(file.needed().begin(), file.needed().end(), "liba.so") != file.needed().end());
  CHECK(file.runpath() == "$ORIGIN");
  CHECK_FALSE(file.soname());
  const auto need = std::find_if(file.version_needs().begin(), file.version_needs().end(),
                                 [](const auto& n) { return n.file == "liba.so"; });
  REQUIRE(need != file.version_needs().end());
  CHECK(need->versions.front().name == "FIXTURE_1");
  CHECK_FALSE(file.truncated());
}

TEST_CASE("symbols are found by the file's own hash table, of either kind", "[elf]") {
  for (const char* fixture : {"cases/origin/lib/liba.so", "cases/sysv_hash/liba.so"}) {
    const auto file = read(content_of(fixture));
    REQUIRE(file);
    CHECK(names_found(**file, "fixture_a") == std::vector<std::string>{"fixture_a"});
    CHECK(names_found(**file, "fixture_b").empty());
  }
}

TEST_CASE("what is no ELF file is an error that says what was expected", "[elf]") {
  CHECK_THAT(read("#!/bin/sh\necho no library at all\n").error().text(),
             ContainsSubstring("fixture: at offset 0x0: invalid ELF header"));
  CHECK_THAT(read("\x7f"
                  "ELF")
                 .error()
                 .text(),
             ContainsSubstring("file too short"));
}

TEST_CASE("a truncated file is known as such or refused, whatever its length", "[elf]") {
  const std::string whole = content_of("cases/versioned/root.so");
  std::uint64_t loaded = 0;  // bytes that segments take; section headers may follow
  const auto complete = read(whole).value();
  for (const elf::Segment& segment : complete->tables().segments)
    if (segment.type == elf::PT_LOAD) loaded = std::max(loaded, segment.offset + segment.file_size);
  for (std::size_t length = 0; length < loaded; length += 7) {
    const auto file = read(whole.substr(0, length));
    if (file) {
      CHECK((*file)->truncated());
      use_all(**file);
    }
  }
}

TEST_CASE("any byte may be wrong without a crash or a hang", "[elf]") {
  const std::string whole = content_of("cases/versioned/liba.so");
  int readable = 0;
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (const char change : {'\xff', '\x01', '\x80'}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      const auto file = read(std::move(damaged));
      if (!file) continue;
      ++readable;
      try {
        use_all(**file);
      } catch (const FormatError&) {  // a right answer for a damaged table
      }
    }
  CHECK(readable > 0);
}
