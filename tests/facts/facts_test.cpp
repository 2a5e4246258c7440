#include <fstream>
#include <iterator>

#include <catch2/catch_all.hpp>

#include "framework/bytes/mapped_file.h"
#include "framework/bytes/owned_bytes.h"
#include "framework/facts/extract.h"
#include "framework/facts/kept_bytes.h"
#include "framework/facts/store.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/wheel_writer.h"

using namespace compatrix;

namespace {

const std::string kLibrary = std::string(FIXTURES) + "/cases/versioned/root.so";

std::string content_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct OpenWheel {
  support::ScratchFolder folder;
  std::shared_ptr<RandomAccess> archive;
  wheel::ZipDirectory directory;
  explicit OpenWheel(const std::vector<support::ArchiveEntry>& files) {
    archive = open_local_file(
                  folder.write("made-1.0-py3-none-any.whl", support::write_wheel("made", "1.0", "py3-none-any", files)))
                  .value();
    directory = wheel::read_zip_directory(*archive).value();
  }
};

}  // namespace

TEST_CASE("stored facts give the same file as its own bytes", "[facts]") {
  const auto whole = elf::read_elf("root.so", MappedFile::open(kLibrary).value()).value();
  const std::string encoded = facts::encode_library(whole->tables(), {}, facts::RecordAgreement::matches, {});
  const auto stored = facts::decode_library("stored", std::make_shared<OwnedBytes>(encoded));
  REQUIRE(stored);
  const elf::ElfFile& again = *stored->elf;
  CHECK(again.needed() == whole->needed());
  CHECK(again.runpath() == whole->runpath());
  CHECK(again.symbol_count() == whole->symbol_count());
  CHECK(again.tables().references.size() == whole->tables().references.size());
  CHECK(again.tables().build_id == whole->tables().build_id);
  for (std::uint32_t i = 0; i < whole->symbol_count(); ++i) CHECK(again.symbol_name(i) == whole->symbol_name(i));
}

TEST_CASE("facts that were cut or changed are refused, not misread", "[facts]") {
  const auto whole = elf::read_elf("root.so", MappedFile::open(kLibrary).value()).value();
  const std::string encoded = facts::encode_library(whole->tables(), {}, facts::RecordAgreement::matches, {});
  for (std::size_t length = 0; length < encoded.size(); length += 11)
    CHECK_FALSE(facts::decode_library("cut", std::make_shared<OwnedBytes>(encoded.substr(0, length))));
}

TEST_CASE("a member is held against its RECORD digest while it is read", "[facts]") {
  const OpenWheel wheel(
      {{.name = "made/root.so", .content = content_of(kLibrary)}, {.name = "made/text.so", .content = "no ELF file"}});
  const auto extract = [&](std::size_t entry, const std::string& digest) {
    const auto encoded = facts::extract_library(*wheel.archive, wheel.directory.entries[entry], digest).value();
    return facts::decode_library("x", std::make_shared<OwnedBytes>(encoded)).value();
  };
  CHECK(extract(0, "").record == facts::RecordAgreement::not_listed);
  CHECK(extract(0, "A-wrong-digest").record == facts::RecordAgreement::differs);
  CHECK(extract(0, "").elf != nullptr);
  CHECK(extract(1, "").elf == nullptr);
  CHECK_THAT(extract(1, "").defect, Catch::Matchers::ContainsSubstring("file too short"));
}

TEST_CASE("what lies in the middle of a large file is asked for by name", "[facts]") {
  std::string content(1000, 'x');
  content.replace(500, 6, "middle");
  const auto stream = [&](facts::KeptBytes& kept) {
    for (std::size_t at = 0; at < content.size(); at += 30)
      kept.append(std::as_bytes(std::span(content).subspan(at, std::min<std::size_t>(30, content.size() - at))));
  };
  facts::KeptBytes first(content.size(), {.beginning = 100, .end = 50}, {});
  stream(first);
  CHECK(first.slice(0, 100).text() == content.substr(0, 100));
  CHECK(first.slice(960, 40).text() == content.substr(960));
  CHECK_THROWS_AS(first.slice(500, 6), facts::BytesNotKept);
  CHECK_THROWS_AS(first.slice(990, 20), FormatError);
  facts::KeptBytes second(content.size(), {.beginning = 100, .end = 50}, {{500, 6}});
  stream(second);
  CHECK(second.slice(500, 6).text() == "middle");
}

TEST_CASE("the store gives back what was put, and nothing for what was damaged", "[facts]") {
  const support::ScratchFolder folder;
  const facts::FactStore store(folder.path());
  CHECK_FALSE(store.library("aa", "made/root.so"));
  const auto whole = elf::read_elf("root.so", MappedFile::open(kLibrary).value()).value();
  REQUIRE(store.put_library("aa", "made/root.so",
                            facts::encode_library(whole->tables(), {}, facts::RecordAgreement::matches, {})));
  REQUIRE(store.library("aa", "made/root.so"));
  CHECK(store.library("aa", "made/root.so")->elf->needed() == whole->needed());
  CHECK_FALSE(store.library("bb", "made/root.so"));
  for (const auto& entry : std::filesystem::directory_iterator(folder.path() / "aa"))
    std::ofstream(entry.path()) << "damaged";
  CHECK_FALSE(store.library("aa", "made/root.so"));
  REQUIRE(store.put_text("aa", "made/__init__.py", "import os\n"));
  CHECK(store.text("aa", "made/__init__.py") == "import os\n");
}

TEST_CASE("a wheel's files lie where an installer would put them", "[facts]") {
  facts::WheelFacts known;
  known.sha256 = "cc";
  for (const char* name :
       {"made/a/b.py", "made-1.data/purelib/c.py", "made-1.data/platlib/made/d.so", "made-1.data/scripts/run"})
    known.directory.entries.push_back({.name = name});
  const support::ScratchFolder folder;
  const facts::FactStore store(folder.path());
  REQUIRE(store.put_wheel(known));
  const auto again = store.wheel("cc");
  REQUIRE(again);
  CHECK(again->find("made/a/b.py") != nullptr);
  CHECK(again->find("c.py") != nullptr);
  CHECK(again->find("made/d.so") != nullptr);
  CHECK(again->files().size() == 3);
  CHECK(again->has_directory("made/a"));
  CHECK_FALSE(again->has_directory("made/b"));
}
