#include "framework/wheel/zip.h"

#include <algorithm>

#include <catch2/catch_all.hpp>

#include "tests/support/scratch_folder.h"
#include "tests/support/wheel_writer.h"

using namespace compatrix;
using Catch::Matchers::ContainsSubstring;
using support::ArchiveEntry;

namespace {

struct Opened {
  support::ScratchFolder folder;
  std::shared_ptr<RandomAccess> archive;
  explicit Opened(const std::string& content) { archive = open_local_file(folder.write("x.whl", content)).value(); }
};

std::vector<std::string> rules_of(const std::vector<wheel::ZipDefect>& defects) {
  std::vector<std::string> rules;
  for (const auto& defect : defects) rules.push_back(defect.rule);
  return rules;
}

std::vector<wheel::ZipDefect> defects_of(const std::string& content) {
  const Opened opened(content);
  auto directory = wheel::read_zip_directory(*opened.archive).value();
  auto defects = directory.defects;
  for (auto& defect : wheel::reconcile_local_headers(*opened.archive, directory)) defects.push_back(defect);
  return defects;
}

bool has_rule(const std::vector<wheel::ZipDefect>& defects, const std::string& rule) {
  const auto rules = rules_of(defects);
  return std::find(rules.begin(), rules.end(), rule) != rules.end();
}

}  // namespace

TEST_CASE("a sound wheel has no defects and gives its members back", "[zip]") {
  const Opened opened(
      support::write_wheel("made", "1.0", "py3-none-any", {{.name = "made/__init__.py", .content = "import os\n"}}));
  const auto directory = wheel::read_zip_directory(*opened.archive);
  REQUIRE(directory);
  CHECK(directory->defects.empty());
  CHECK(wheel::reconcile_local_headers(*opened.archive, *directory).empty());
  REQUIRE(directory->entries.size() == 4);
  CHECK(wheel::read_member(*opened.archive, directory->entries[0], 100).value() == "import os\n");
  CHECK_THAT(wheel::read_member(*opened.archive, directory->entries[0], 3).error().message,
             ContainsSubstring("at most 3 were expected"));
}

TEST_CASE("a wheel that was cut anywhere is one clear sentence", "[zip]") {
  const std::string whole =
      support::write_wheel("made", "1.0", "py3-none-any", {{.name = "made/a.py", .content = std::string(300, 'a')}});
  for (std::size_t length = 0; length < whole.size(); length += 13) {
    const Opened opened(whole.substr(0, length));
    const auto directory = wheel::read_zip_directory(*opened.archive);
    REQUIRE_FALSE(directory);
    CHECK_THAT(directory.error().message, ContainsSubstring("is no whole ZIP archive"));
  }
}

TEST_CASE("any byte of an archive may be wrong without a crash or a hang", "[zip]") {
  const std::string whole =
      support::write_wheel("made", "1.0", "py3-none-any", {{.name = "made/a.py", .content = "a = 1\n"}});
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (const char change : {'\xff', '\x01', '\x80'}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      const Opened opened(damaged);
      const auto directory = wheel::read_zip_directory(*opened.archive);
      if (!directory) continue;
      for (const auto& entry : directory->entries) static_cast<void>(wheel::read_member(*opened.archive, entry, 1000));
      static_cast<void>(wheel::reconcile_local_headers(*opened.archive, *directory));
    }
}

TEST_CASE("what makes an archive ambiguous is a defect with its rule and entry", "[zip]") {
  const auto rules = [](const std::vector<ArchiveEntry>& entries) {
    return defects_of(support::write_archive(entries));
  };
  CHECK(has_rule(rules({{.name = "a", .content = "1"}, {.name = "a", .content = "2"}}), "duplicate-entry"));
  CHECK(has_rule(rules({{.name = "../a", .content = "1"}}), "escaping-name"));
  CHECK(has_rule(rules({{.name = "/etc/a", .content = "1"}}), "escaping-name"));
  CHECK(has_rule(rules({{.name = "a\\b", .content = "1"}}), "escaping-name"));
  CHECK(has_rule(rules({{.name = "a\nb", .content = "1"}}), "unprintable-name"));
  CHECK(has_rule(rules({{.name = "a", .content = "1", .flags = 1}}), "encrypted"));
  CHECK(has_rule(rules({{.name = "a", .content = "1", .flags = 8}}), "data-descriptor"));
  CHECK(has_rule(rules({{.name = "a", .content = "b", .external_attributes = 0120777U << 16}}), "symbolic-link"));
  CHECK(has_rule(rules({{.name = "a", .content = "1", .local_name = "b"}}), "local-name-differs"));
  CHECK(has_rule(rules({{.name = "a", .content = "1"}, {.name = "b", .content = "2", .size_change = -1}}),
                 "local-size-differs"));
  CHECK(has_rule(rules({{.name = "a", .content = "1", .size_change = 3}, {.name = "b", .content = "2"}}),
                 "overlapping-entries"));
  CHECK(has_rule(rules({{.name = "a/b", .content = "1"}, {.name = "a//b", .content = "2"}}), "colliding-names"));
  CHECK(has_rule(rules({{.name = "a/B", .content = "1"}, {.name = "A/b", .content = "2"}}), "colliding-names"));
  CHECK(has_rule(rules({{.name = "a", .content = "1"}, {.name = "a/b", .content = "2"}}), "file-and-folder"));
  CHECK_FALSE(has_rule(rules({{.name = "a/", .content = ""}, {.name = "a/b", .content = "2"}}), "file-and-folder"));
  CHECK(has_rule(rules({{.name = "a\xff", .content = "1"}}), "unprintable-name"));
  CHECK(has_rule(rules({{.name = "a", .content = "1", .claimed_method = 12}}), "unknown-method"));
}

TEST_CASE("extra fields that readers may take in two ways are a defect", "[zip]") {
  const auto rules = [](const std::string& central) {
    return defects_of(support::write_archive({{.name = "a", .content = "1", .central_extra = central}}));
  };
  const std::string field("\x01\x00\x00\x00", 4);
  CHECK(rules(field).empty());
  CHECK(has_rule(rules(field + field), "duplicate-extra-field"));
  CHECK(has_rule(rules(field + "\x02"), "extra-field"));
}

TEST_CASE("bytes that belong to no entry are a defect, a right data descriptor is not", "[zip]") {
  const auto rules = [](const std::string& behind, std::uint16_t flags) {
    return rules_of(
        defects_of(support::write_archive({{.name = "a", .content = "123456789", .flags = flags, .behind = behind}})));
  };
  const std::string descriptor("\x26\x39\xf4\xcb\x09\x00\x00\x00\x09\x00\x00\x00", 12), signature = "PK\x07\x08";
  CHECK(rules("hidden", 0) == std::vector<std::string>{"stray-bytes"});
  CHECK(rules(descriptor, 8) == std::vector<std::string>{"data-descriptor"});
  CHECK(rules(signature + descriptor, 8) == std::vector<std::string>{"data-descriptor"});
  CHECK(rules(signature + descriptor + "x", 8) == std::vector<std::string>{"data-descriptor", "descriptor-differs"});
  CHECK(rules("", 8) == std::vector<std::string>{"data-descriptor", "descriptor-differs"});
}

TEST_CASE("deflated members are inflated, with a local header of any length", "[zip]") {
  const std::string content(100'000, 'a');
  const std::string long_extra = std::string("\x99\x99\x00\x80", 4) + std::string(0x8000, 'e');
  const Opened opened(
      support::write_archive({{.name = "a", .content = content, .deflated = true},
                              {.name = "b", .content = content, .deflated = true, .local_extra = long_extra},
                              {.name = "empty", .content = "", .local_extra = long_extra},
                              {.name = "renamed", .content = "", .local_name = "another", .local_extra = long_extra}}));
  const auto directory = wheel::read_zip_directory(*opened.archive).value();
  CHECK(directory.entries[0].compressed_size < 2000);
  for (const std::size_t i : {0U, 1U})
    CHECK(wheel::read_member(*opened.archive, directory.entries[i], 200'000).value() == content);
  CHECK(wheel::read_member(*opened.archive, directory.entries[2], 10).value().empty());
  CHECK_THAT(wheel::read_member(*opened.archive, directory.entries[3], 10).error().message,
             ContainsSubstring("another name"));
}

TEST_CASE("a member that no reader can take is refused before its data is read", "[zip]") {
  const auto error_of = [](const ArchiveEntry& entry, std::int64_t size_change) {
    const Opened opened(support::write_archive({entry}));
    auto directory = wheel::read_zip_directory(*opened.archive).value();
    directory.entries[0].size =
        static_cast<std::uint64_t>(static_cast<std::int64_t>(directory.entries[0].size) + size_change);
    return wheel::read_member(*opened.archive, directory.entries[0], 100).error().message;
  };
  CHECK_THAT(error_of({.name = "a", .content = "1", .flags = 1}, 0), ContainsSubstring("is encrypted"));
  CHECK_THAT(error_of({.name = "a", .content = "1", .claimed_method = 12}, 0), ContainsSubstring("by method 12"));
  CHECK_THAT(error_of({.name = "a", .content = std::string(5000, 'x')}, -4990),
             ContainsSubstring("gives 5000 and 10 bytes"));
}

TEST_CASE("content that is not what the directory promises is an error with the offset", "[zip]") {
  const Opened opened(support::write_archive({{.name = "a", .content = "content", .crc_change = 1}}));
  const auto directory = wheel::read_zip_directory(*opened.archive).value();
  const auto read = wheel::read_member(*opened.archive, directory.entries[0], 100);
  REQUIRE_FALSE(read);
  CHECK_THAT(read.error().message, ContainsSubstring("at offset 0x0") && ContainsSubstring("the archive is damaged"));
}

TEST_CASE("a comment is a defect, an end record inside it no end", "[zip]") {
  const std::string fake_end("PK\x05\x06", 4);
  const Opened opened(support::write_archive({{.name = "a", .content = "1"}}, "hello " + fake_end + " world"));
  const auto directory = wheel::read_zip_directory(*opened.archive);
  REQUIRE(directory);
  CHECK(rules_of(directory->defects) == std::vector<std::string>{"archive-comment"});
  const Opened trailing(support::write_archive({{.name = "a", .content = "1"}}) + "trailing");
  CHECK_FALSE(wheel::read_zip_directory(*trailing.archive));
}

TEST_CASE("an archive that ends twice is ambiguous", "[zip]") {
  const std::string plain = support::write_archive({{.name = "a", .content = "1"}});
  // The second end record names an empty directory just before itself.
  std::string second("PK\x05\x06", 4);
  second.resize(22, '\0');
  second[16] = static_cast<char>(plain.size());
  const Opened opened(support::write_archive({{.name = "a", .content = "1"}}, second));
  const auto directory = wheel::read_zip_directory(*opened.archive);
  REQUIRE(directory);
  CHECK(rules_of(directory->defects) == std::vector<std::string>{"several-end-records"});
}

TEST_CASE("ZIP64 end records are read, and may not contradict the end record", "[zip]") {
  const auto number = [](std::uint64_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
    return text;
  };
  const std::string plain = support::write_archive({{.name = "a", .content = "1"}});
  const std::size_t end = plain.size() - 22;
  constexpr std::uint64_t kOffset = 32, kSize = 47;  // of the directory
  const auto archive = [&](std::uint64_t record_size, std::uint64_t narrow_count) {
    return plain.substr(0, end) + "PK\x06\x06" + number(record_size, 8) + number(45, 4) + number(0, 8) + number(1, 8) +
           number(1, 8) + number(kSize, 8) + number(kOffset, 8) + "PK\x06\x07" + number(0, 4) + number(end, 8) +
           number(1, 4) + "PK\x05\x06" + number(0, 4) + number(narrow_count, 2) + number(narrow_count, 2) +
           number(0xffffffff, 4) + number(kOffset, 4) + number(0, 2);
  };
  CHECK(defects_of(archive(44, 0xffff)).empty());
  CHECK(defects_of(archive(44, 1)).empty());
  CHECK(rules_of(defects_of(archive(44, 2))) == std::vector<std::string>{"end-records-differ"});
  CHECK(rules_of(defects_of(archive(45, 1))) == std::vector<std::string>{"zip64-end-record"});
}
