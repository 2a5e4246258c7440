#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <sys/resource.h>

#include <catch2/catch_all.hpp>
#include <nlohmann/json.hpp>

#include "framework/base/text.h"
#include "reports/journal.h"
#include "reports/report.h"
#include "tests/support/scratch_folder.h"

using namespace compatrix;
using Catch::Matchers::ContainsSubstring;

namespace {

CheckResult failing() {
  CheckResult result{
      .check = "torch_abi", .status = Status::fail, .cause = Cause::torch_abi, .summary = "4 of 12 files can't load"};
  result.findings.push_back({.cause = Cause::torch_abi,
                             .kind = "undefined-symbol",
                             .file = "sgl_kernel/flash_ops.abi3.so",
                             .message = "m",
                             .fields = {{"symbol", "_ZN3c101fEib"},
                                        {"demangled", "c10::f(int, bool)"},
                                        {"expected_in", "libc10.so"},
                                        {"instead", "c10::f(unsigned int, bool)"},
                                        {"files", "sgl_kernel/flash_ops.abi3.so"}}});
  result.findings.push_back(
      {.cause = {}, .kind = "file-outcome", .file = "a.so", .message = "loads", .fields = {{"outcome", "loads"}}});
  result.remedies = {"take the release that was built for this torch"};
  result.assumptions = {"import torch has run before"};
  return result;
}

CheckResult simple(Status status, const std::string& summary) {
  return {.check = "wheel_integrity", .status = status, .summary = summary};
}

ReportedCell cell(const std::string& torch, std::vector<ReportedResult> results) {
  return {
      .id = "torch=" + torch, .axes = {{"torch", torch}}, .excluded = {}, .error = {}, .results = std::move(results)};
}

// One of each status, and text that no XML may hold.
Report everything() {
  const std::string hostile =
      std::string("nul\0esc\x1b[31m ", 14) + "\xff\xfe \xed\xa0\x80 \xef\xbf\xbf ]]> <&\"'> \x0b\x0c";
  Report report{.name = "made",
                .tool_version = "0",
                .started = "2026-12-01T12:00:00",
                .host = "here",
                .duration_s = 1.5,
                .cells = {}};
  report.cells.push_back(cell("1", {{.result = simple(Status::pass, "fine")}, {.result = failing()}}));
  report.cells.push_back(cell("2", {{.result = failing(), .expected = true, .expectation_reason = "known"}}));
  report.cells.push_back(cell("3", {{.result = simple(Status::pass, "fine"),
                                     .broken_expectation = "line 7 expects fail, the answer is pass"}}));
  report.cells.push_back(cell("4", {{.result = simple(Status::crash, "died: " + hostile)}, {.result = failing()}}));
  report.cells.back().results[1].result.findings[0].fields.emplace_back("demangled", hostile);
  report.cells.back().results[1].result.findings.push_back(
      {.cause = {}, .kind = "other", .file = hostile, .message = hostile, .fields = {}});
  report.cells.push_back(cell("5", {{.result = simple(Status::skip, "no GPU")}}));
  report.cells.push_back(cell("6", {{.result = simple(Status::warn, "tag differs")}}));
  report.cells.push_back(cell("7", {{.result = simple(Status::timeout, std::string(200'000, 'x'))}}));
  report.cells.push_back(cell("8 " + hostile, {{.result = simple(Status::excluded, "never built")}}));
  report.cells.back().excluded = "never built";
  return report;
}

Report only(ReportedResult result) {
  Report report{.name = "made", .cells = {}};
  report.cells.push_back(cell("1", {std::move(result)}));
  return report;
}

}  // namespace

TEST_CASE("reports of every status and of hostile text are written for other parsers to judge", "[reports]") {
  const std::filesystem::path written = WRITTEN;
  REQUIRE(write_file_atomically(written / "everything.xml", junit_xml(everything())));
  REQUIRE(write_file_atomically(written / "everything.json", results_json(everything()).dump(1)));
  REQUIRE(write_file_atomically(written / "empty.xml", junit_xml(Report{.name = "none", .cells = {}})));
}

TEST_CASE("exit codes are those of the documentation", "[reports]") {
  CHECK(exit_code(only({.result = simple(Status::pass, "")})) == 0);
  CHECK(exit_code(only({.result = simple(Status::warn, "")})) == 0);
  CHECK(exit_code(only({.result = failing()})) == 1);
  CHECK(exit_code(only({.result = failing(), .expected = true})) == 0);
  CHECK(exit_code(only({.result = simple(Status::pass, ""), .broken_expectation = "no longer"})) == 1);
  for (const Status status : {Status::error, Status::crash, Status::timeout})
    CHECK(exit_code(only({.result = simple(status, "")})) == 3);
  CHECK(exit_code(only({.result = simple(Status::skip, "no GPU")})) == 4);
  CHECK(exit_code(everything()) == 1);  // 1 before 3
  Report unmade = only({.result = simple(Status::pass, "")});
  unmade.cells.push_back({.id = "b", .axes = {}, .excluded = {}, .error = "index away", .results = {}});
  CHECK(exit_code(unmade) == 3);
}

TEST_CASE("a journal gives the report back, also of a run that was killed", "[reports]") {
  const support::ScratchFolder folder;
  const auto file = folder.path() / "run" / "journal.jsonl";
  Report planned = everything();
  {
    auto journal = Journal::create(file);
    REQUIRE(journal);
    REQUIRE(journal->begin(planned));
    REQUIRE(journal->environment(planned.cells[0].id, R"({"python":"3.11"})", ""));
    REQUIRE(journal->environment(planned.cells[1].id, "{}", "index away"));
    REQUIRE(journal->result(planned.cells[0].id, planned.cells[0].results[1]));
  }
  // Killed in the middle of a line.
  std::ofstream(file, std::ios::app) << R"({"event":"result","cell":"torch=1","resu)";
  const auto report = read_journal(file);
  REQUIRE(report);
  CHECK(report->interrupted);
  CHECK(report->cells[0].results[1].result.summary == "4 of 12 files can't load");
  CHECK(report->cells[0].results[0].result.summary == "not run: the run was interrupted");
  CHECK(report->cells[1].results[0].result.summary == "index away");
  CHECK(report->cells[7].results[0].result.status == Status::excluded);
  CHECK(exit_code(*report) == 130);
  // A new run leaves the older journal beside it.
  REQUIRE(Journal::create(file));
  CHECK(std::filesystem::exists(file.string() + ".previous"));
  CHECK_FALSE(read_journal(file));
  CHECK_THAT(read_journal(folder.write("other.jsonl", "{\"event\":\"run\"}\nx\n{}\n")).error().text(),
             ContainsSubstring("is no journal of this form"));
}

TEST_CASE("the table says each answer in words and each failure once", "[reports]") {
  Report report = everything();
  report.cells.resize(2);
  const std::string table = result_table(report, {.colour = false, .width = 100});
  CHECK_THAT(table, ContainsSubstring("✗ fail (torch-abi)") && ContainsSubstring("✗ fail (torch-abi) — expected"));
  CHECK_THAT(table, ContainsSubstring("missing  c10::f(int, bool)\n          has  c10::f(unsigned int, bool)\n"));
  CHECK(table.find('\x1b') == std::string::npos);
  CHECK(table.find(" \n") == std::string::npos);
  const std::size_t first = table.find("missing  c10::f");
  CHECK(table.find("missing  c10::f", first + 1) == std::string::npos);
  CHECK_THAT(result_table(report, {.colour = true, .width = 100}), ContainsSubstring("\x1b[31m"));
}

TEST_CASE("a file that can't be written leaves the older one", "[reports]") {
  const support::ScratchFolder folder;
  const auto file = folder.write("results.json", "older");
  CHECK_FALSE(write_file_atomically(folder.path() / "results.json" / "below", "x"));
  std::ifstream in(file);
  CHECK(std::string(std::istreambuf_iterator<char>(in), {}) == "older");
}

TEST_CASE("text is cut between characters, never inside one", "[reports]") {
  for (std::size_t before = 0; before < 3; ++before) {
    std::string summary(before, 'x');
    for (int i = 0; i < 40'000; ++i) summary += "\u2026";
    const std::string xml = junit_xml(only({.result = simple(Status::timeout, summary)}));
    CHECK(visible_utf8(xml) == xml);
    CHECK_THAT(xml, ContainsSubstring("bytes left out"));
  }
}

TEST_CASE("an unexpected failure is never told as an expected one that says the same", "[reports]") {
  Report report{.name = "made", .cells = {}};
  report.cells.push_back(cell("1", {{.result = failing(), .expected = true, .expectation_reason = "known"}}));
  report.cells.push_back(cell("2", {{.result = failing()}}));
  report.cells.push_back(cell("3", {{.result = simple(Status::error, "index away")}}));
  const std::string table = result_table(report, {.colour = false, .width = 100});
  CHECK(table.find("✗ torch_abi") < table.find("? wheel_integrity"));
  CHECK_THAT(table, ContainsSubstring("torch=2\n") && ContainsSubstring("torch=1  (expected: known)\n"));
  CHECK_THAT(table, !ContainsSubstring("    expected: known"));
}

TEST_CASE("a worker's last words keep their lines, indented and without trailing blanks", "[reports]") {
  CheckResult crash = simple(Status::crash, "the worker died without an answer (SIGSEGV)");
  crash.findings.push_back({.cause = {},
                            .kind = "worker-ended",
                            .file = {},
                            .message = crash.summary,
                            .fields = {{"printed", "first line  \n\n  second line \n"}}});
  const std::string table = result_table(only({.result = crash}), {.colour = false, .width = 100});
  CHECK_THAT(table, ContainsSubstring("               first line\n                 second line\n"));
  CHECK(table.find(" \n") == std::string::npos);
}

TEST_CASE("a line of a journal that could not be written whole does not spoil the next", "[reports]") {
  const support::ScratchFolder folder;
  const auto file = folder.path() / "journal.jsonl";
  auto journal = Journal::create(file);
  REQUIRE(journal);
  REQUIRE(journal->begin(only({.result = simple(Status::pass, "")})));
  struct rlimit before {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, SIG_IGN);
  const rlimit full{std::filesystem::file_size(file) + 20, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &full);
  CHECK_FALSE(journal->result("torch=1", {.result = simple(Status::pass, "fine")}));
  ::setrlimit(RLIMIT_FSIZE, &before);
  REQUIRE(journal->result("torch=1", {.result = simple(Status::pass, "fine")}));
  const auto report = read_journal(file);
  REQUIRE(report);
  CHECK(report->cells[0].results[0].result.summary == "fine");
}
