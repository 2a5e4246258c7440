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
  const auto defects_of = [](const std::vector<ArchiveEntry>& entries) {
    const Opened opened(support::write_archive(entries));
    auto directory = wheel::read_zip_directory(*opened.archive).value();
    auto defects = directory.defects;
    for (auto& defect : wheel::reconcile_local_headers(*opened.archive, directory)) defects.push_back(defect);
    return defects;
  };
  CHECK(has_rule(defects_of({{.name = "a", .content = "1"}, {.name = "a", .content = "2"}}), "duplicate-entry"));
  CHECK(has_rule(defects_of({{.name = "../a", .content = "1"}}), "escaping-name"));
  CHECK(has_rule(defects_of({{.name = "/etc/a", .content = "1"}}), "escaping-name"));
  CHECK(has_rule(defects_of({{.name = "a\\b", .content = "1"}}), "escaping-name"));
  CHECK(has_rule(defects_of({{.name = "a\nb", .content = "1"}}), "unprintable-name"));
  CHECK(has_rule(defects_of({{.name = "a", .content = "1", .flags = 1}}), "encrypted"));
  CHECK(has_rule(defects_of({{.name = "a", .content = "1", .flags = 8}}), "data-descriptor"));
  CHECK(has_rule(defects_of({{.name = "a", .content = "b", .external_attributes = 0120777U << 16}}), "symbolic-link"));
  CHECK(has_rule(defects_of({{.name = "a", .content = "1", .local_name = "b"}}), "local-name-differs"));
  CHECK(has_rule(defects_of({{.name = "a", .content = "123"}, {.name = "b", .content = "1", .size_change = 0}}),
                 "none") == false);
  CHECK(has_rule(defects_of({{.name = "a", .content = "1"}, {.name = "b", .content = "2", .size_change = -1}}),
                 "local-size-differs"));
  CHECK(has_rule(defects_of({{.name = "a", .content = "1", .size_change = 3}, {.name = "b", .content = "2"}}),
                 "overlapping-entries"));
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
