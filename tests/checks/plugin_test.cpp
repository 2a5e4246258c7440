#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

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

CheckResult answer_of(const std::string& plugin, const std::string& check = "plain",
                      const std::map<std::string, std::string>& parameters = {}) {
  const support::ScratchFolder folder;
  Evaluator evaluator;
  const std::string question =
      encode_question({.environment = {.site_packages = "/cell"}, .parameters = parameters}, folder.path());
  return evaluator.evaluate(fixture(plugin), check, question, [](const auto&) { return std::nullopt; });
}
CheckResult sdk_answer(const std::string& ending) {
  return answer_of("sdk_check", "sdk", {{"ending", ending}});
}

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// A copy that only its owner may write to.
std::filesystem::path private_copy(const std::filesystem::path& folder, const std::string& name) {
  std::filesystem::create_directories(folder);
  ::chmod(folder.c_str(), 0755);
  const auto copy = folder / (name + ".so");
  std::filesystem::copy_file(fixture(name), copy);
  ::chmod(copy.c_str(), 0755);
  return copy;
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

TEST_CASE("a sticky bit excuses a folder, never a file, and only for files of one's own", "[plugin]") {
  const support::ScratchFolder folder;
  const auto plugin = private_copy(folder.path() / "open", "plain_c");
  ::chmod(plugin.parent_path().c_str(), 01777);
  CHECK(inspect_plugin(plugin));
  ::chmod(plugin.c_str(), 01666);
  CHECK_THAT(inspect_plugin(plugin).error().message, ContainsSubstring("the file may be written to by others"));
  ::chmod(plugin.c_str(), 0755);
  ::chmod(plugin.parent_path().c_str(), 0777);
  CHECK_THAT(inspect_plugin(plugin).error().message, ContainsSubstring("its folder may be written to by others"));
  if (::geteuid() != 0) SKIP("to give a file to another user takes root");
  ::chmod(plugin.parent_path().c_str(), 01777);
  REQUIRE(::chown(plugin.c_str(), 65534, 65534) == 0);
  CHECK_THAT(inspect_plugin(plugin).error().message, ContainsSubstring("another user's file"));
}

TEST_CASE("a plugin that is cut off anywhere is refused, not left to kill the worker", "[plugin]") {
  const support::ScratchFolder folder;
  const std::string whole = bytes_of(fixture("plain_c"));
  const auto mapped_end = whole.find("answers pass", whole.size() / 4);
  REQUIRE(mapped_end != std::string::npos);
  for (std::size_t size = 0; size < mapped_end; size += 61) {
    const auto cut = folder.write("cut.so", whole.substr(0, size));
    ::chmod(cut.c_str(), 0755);
    INFO("the first " << size << " bytes");
    CHECK_FALSE(inspect_plugin(cut));
  }
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

TEST_CASE("a folder that is named twice is searched once", "[plugin]") {
  const auto folder = fixture("plain_c").parent_path();
  const auto catalogue = find_plugins({folder, folder / ".." / "plain_c", folder / ""});
  CHECK(catalogue.plugins.size() == 1);
  CHECK(catalogue.refused.empty());
}

TEST_CASE("a plugin whose note promises another check than it has is not run", "[plugin]") {
  CHECK(inspect_plugin(fixture("note_disagrees")));
  CHECK_THAT(load_plugin(fixture("note_disagrees")).error().message,
             ContainsSubstring(R"(has check "plain|0|600" where its note has "plain|0|2")"));
  CHECK(answer_of("note_disagrees").status == Status::error);
}

TEST_CASE("a check written with the SDK reports what it found", "[sdk]") {
  const CheckResult result = sdk_answer("conclude");
  CHECK(result.status == Status::fail);
  CHECK(result.cause == Cause::torch_abi);
  CHECK(result.summary == "made up");
  REQUIRE(result.findings.size() == 1);
  CHECK(result.findings[0].kind == "made-up");
  CHECK(result.findings[0].file == "a.so");
  CHECK(result.findings[0].fields ==
        std::vector<std::pair<std::string, std::string>>{{"symbol", "f"}, {"symbol", "g"}});
  CHECK(result.assumptions == std::vector<std::string>{"nothing was looked at"});
  CHECK(result.remedies == std::vector<std::string>{"look at something"});
}

TEST_CASE("no exception leaves a check written with the SDK, and its reason is kept", "[sdk]") {
  for (const auto& [ending, reason] : {std::pair{"throw", "thrown on purpose"},
                                       {"throw_other", "no std::exception"},
                                       {"service", "lacks the service compatrix.unheard/1; update compatrix"},
                                       {"parameter", "declares no parameter undeclared"},
                                       {"no_facts", "no answer"}}) {
    INFO(ending);
    CHECK(sdk_answer(ending).status == Status::error);
    CHECK_THAT(sdk_answer(ending).summary, ContainsSubstring(reason));
  }
  const CheckResult twice = sdk_answer("twice");
  CHECK(twice.status == Status::error);
  REQUIRE(twice.findings.size() == 2);
  CHECK_THAT(twice.findings[1].message, ContainsSubstring("concluded twice"));
}

TEST_CASE("a plugin in plain C answers; one that breaks the rules is not believed", "[plugin]") {
  CHECK(answer_of("plain_c").status == Status::pass);
  CHECK(answer_of("plain_c").summary == "plain C answers");
  CHECK(answer_of("never_answers").status == Status::error);
  CHECK_THAT(answer_of("never_answers").summary, ContainsSubstring("returned without an answer"));
  CHECK(answer_of("fails_without_cause").status == Status::error);
  CHECK(answer_of("undefined_symbol").status == Status::error);
}
