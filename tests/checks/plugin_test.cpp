#include <sys/stat.h>

#include <catch2/catch_all.hpp>

#include "framework/checks/evaluate.h"
#include "framework/checks/plugin_library.h"
#include "tests/support/scratch_folder.h"

using namespace compatrix;
using Catch::Matchers::ContainsSubstring;

namespace {

std::filesystem::path fixture(const std::string& name) {
  return std::string(FIXTURES) + "/plugins/" + name + "/" + name + ".so";
}

CheckResult answer_of(const std::string& plugin) {
  const support::ScratchFolder folder;
  Evaluator evaluator;
  const std::string question =
      encode_question({.environment = {.site_packages = "/cell"}, .parameters = {}}, folder.path());
  return evaluator.evaluate(fixture(plugin), "plain", question, [](const auto&) { return std::nullopt; });
}

}  // namespace

TEST_CASE("a plugin is known by its note before anything of it runs", "[plugin]") {
  const auto plugin = inspect_plugin(fixture("plain_c"));
  REQUIRE(plugin);
  CHECK(plugin->note.name == "plain");
  CHECK(plugin->note.cxx_abi == "none");
  REQUIRE(plugin->note.checks.size() == 1);
  CHECK(plugin->note.checks[0].id == "plain");
  CHECK(plugin->note.checks[0].default_timeout_s == 2);
}

TEST_CASE("a wrong plugin is refused with one sentence that says what to do", "[plugin]") {
  const support::ScratchFolder folder;
  CHECK_THAT(inspect_plugin(fixture("newer_major")).error().message,
             ContainsSubstring("was built for ABI 2.0, this compatrix has 1.0; update compatrix"));
  CHECK_THAT(inspect_plugin(fixture("no_note")).error().message, ContainsSubstring("it has no compatrix note"));
  CHECK_THAT(inspect_plugin(folder.write("text.so", "a text, and no short one")).error().message,
             ContainsSubstring("is no plugin"));
  CHECK_THAT(inspect_plugin(folder.path() / "none.so").error().message, ContainsSubstring("No such file"));
  const auto writable = folder.path() / "writable.so";
  std::filesystem::copy_file(fixture("plain_c"), writable);
  ::chmod(writable.c_str(), 0666);
  CHECK_THAT(inspect_plugin(writable).error().message, ContainsSubstring("chmod go-w"));
}

TEST_CASE("loading keeps the linker's own words", "[plugin]") {
  CHECK_THAT(load_plugin(fixture("undefined_symbol")).error().message,
             ContainsSubstring("undefined symbol: nobody_has_this"));
  CHECK_THAT(load_plugin(fixture("no_note")).error().message, ContainsSubstring("exports no compatrix_plugin_entry"));
}

TEST_CASE("of two plugins with one check the first counts, the second is refused", "[plugin]") {
  const auto catalogue =
      find_plugins({fixture("plain_c").parent_path(), fixture("throws").parent_path(), "/no/such/folder"});
  REQUIRE(catalogue.plugins.size() == 1);
  CHECK(catalogue.with_check("plain") == &catalogue.plugins[0]);
  CHECK(catalogue.with_check("other") == nullptr);
  REQUIRE(catalogue.refused.size() == 1);
  CHECK_THAT(catalogue.refused[0].message, ContainsSubstring("its check plain is already that of"));
}

TEST_CASE("a plugin in plain C answers; one that breaks the rules is not believed", "[plugin]") {
  CHECK(answer_of("plain_c").status == Status::pass);
  CHECK(answer_of("plain_c").summary == "plain C answers");
  CHECK(answer_of("never_answers").status == Status::error);
  CHECK_THAT(answer_of("never_answers").summary, ContainsSubstring("returned without an answer"));
  CHECK(answer_of("fails_without_cause").status == Status::error);
  CHECK(answer_of("undefined_symbol").status == Status::error);
}
