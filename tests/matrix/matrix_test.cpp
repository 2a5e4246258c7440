#include "framework/matrix/matrix.h"

#include <catch2/catch_all.hpp>

#include "tests/support/scratch_folder.h"

using namespace compatrix;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::string kGood = R"(compatrix: 1
name: made
axes:
  torch: [1.10, 2.9.1]
  kernels: ["a==1", "b==2"]
exclude: [{torch: 1.10, kernels: "b==2", reason: "never built"}]
environment: {provider: wheels, requirements: ["torch=={torch}", "{kernels}"]}
checks: [torch_abi, {wheel_integrity: {depth: full}}]
expect:
  - {where: {torch: [1.10, 2.9.1]}, check: torch_abi, status: fail, cause: torch-abi, reason: "first"}
  - {where: {torch: 2.9.1, kernels: "a==1"}, check: torch_abi, status: pass, reason: "second", until: 2027-06-01}
)";

Result<Matrix> read(const std::string& text) {
  const support::ScratchFolder folder;
  return read_matrix(folder.write("m.yaml", text));
}

// The error of kGood after one change, from the line's number on.
std::string error_after(const std::string& from, const std::string& to) {
  std::string text = kGood;
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  const auto matrix = read(text);
  REQUIRE_FALSE(matrix);
  const std::string error = matrix.error().text();
  return error.substr(error.find("m.yaml"));
}

}  // namespace

TEST_CASE("a matrix becomes cells, in order, the excluded ones marked", "[matrix]") {
  const auto matrix = read(kGood);
  REQUIRE(matrix);
  const auto cells = expand(*matrix);
  REQUIRE(cells.size() == 4);
  CHECK(cells[0].id() == "torch=1.10,kernels=a==1");  // not 1.1
  CHECK(cells[1].excluded == "never built");
  CHECK(requirements_of(*matrix, cells[2]) == std::vector<std::string>{"torch==2.9.1", "a==1"});
  CHECK(matrix->checks[1].parameters == std::vector<std::pair<std::string, std::string>>{{"depth", "full"}});
}

TEST_CASE("of the expectations that match, the last counts", "[matrix]") {
  const auto matrix = read(kGood);
  REQUIRE(matrix);
  const auto cells = expand(*matrix);
  CHECK(expectation_for(*matrix, cells[0], "torch_abi")->reason == "first");
  CHECK(expectation_for(*matrix, cells[2], "torch_abi")->reason == "second");
  CHECK(expectation_for(*matrix, cells[2], "torch_abi")->line == 11);
  CHECK(expectation_for(*matrix, cells[2], "wheel_integrity") == nullptr);
}

TEST_CASE("linked axes move together", "[matrix]") {
  const auto matrix = read(R"(compatrix: 1
axes: {kernels: [a, b]}
linked: [{torch: "2.10.0+cu130", index: cu130}, {torch: "2.10.0+cu128", index: cu128}]
indexes: {cu130: "${COMPATRIX_FIXTURE_INDEX}/cu130", cu128: "http://127.0.0.1:1/cu128"}
environment: {requirements: ["torch=={torch}", "{kernels}"]}
checks: [torch_abi]
)");
  REQUIRE(matrix);
  const auto cells = expand(*matrix);
  REQUIRE(cells.size() == 4);
  CHECK(cells[0].id() == "kernels=a,torch=2.10.0+cu130,index=cu130");
  CHECK(index_of(*matrix, cells[1]).value() == "http://127.0.0.1:1/cu128");
  unsetenv("COMPATRIX_FIXTURE_INDEX");
  CHECK_THAT(index_of(*matrix, cells[0]).error().text(),
             ContainsSubstring("needs the environment variable COMPATRIX_FIXTURE_INDEX"));
  setenv("COMPATRIX_FIXTURE_INDEX", "http://127.0.0.1:2", 1);
  CHECK(index_of(*matrix, cells[0]).value() == "http://127.0.0.1:2/cu130");
  unsetenv("COMPATRIX_FIXTURE_INDEX");
}

TEST_CASE("linked rows are one choice each, in their own order, however many there are", "[matrix]") {
  std::string text = "compatrix: 1\naxes: {k: [x, y]}\nlinked:\n";
  for (int i = 999; i >= 0; --i)
    text += "  - {a: a" + std::to_string(i) + ", b: b" + std::to_string(i) + ", c: c" + std::to_string(i % 2) + "}\n";
  const auto matrix = read(text + "environment: {requirements: [\"{a}{b}{c}{k}\"]}\nchecks: [torch_abi]\n");
  REQUIRE(matrix);
  const auto cells = expand(*matrix);
  REQUIRE(cells.size() == 2000);
  CHECK(cells.front().id() == "k=x,a=a999,b=b999,c=c1");
  CHECK(cells.back().id() == "k=y,a=a0,b=b0,c=c0");
}

TEST_CASE("braces in a value are no placeholder, whatever the order of the axes", "[matrix]") {
  for (const char* axes : {"{pkg: [\"foo=={torch}\"], torch: [1]}", "{torch: [1], pkg: [\"foo=={torch}\"]}"}) {
    const auto matrix = read(std::string("compatrix: 1\naxes: ") + axes +
                             "\nenvironment: {requirements: [\"{pkg}\", \"t=={torch}\"]}\nchecks: [torch_abi]\n");
    REQUIRE(matrix);
    CHECK(requirements_of(*matrix, expand(*matrix).front()) == std::vector<std::string>{"foo=={torch}", "t==1"});
  }
}

TEST_CASE("what would silently match nothing, everything or too much is refused", "[matrix]") {
  CHECK_THAT(error_after("torch: 1.10, kernels: \"b==2\", reason", "reason"),
             ContainsSubstring("m.yaml:6:11: an exclusion that names no axis leaves out every cell"));
  CHECK_THAT(error_after("where: {torch: [1.10, 2.9.1]}", "where: {torch: []}"),
             ContainsSubstring("axis 'torch' matches nothing without a value"));
  CHECK_THAT(error_after("2027-06-01", "2027-02-31"), ContainsSubstring("a date such as 2027-06-01 was expected"));
  CHECK_THAT(error_after("compatrix: 1", "name2: 1"), ContainsSubstring("unknown key 'name2' in a matrix"));
  CHECK_THAT(read("name: x\n").error().text(),
             ContainsSubstring("the key 'compatrix' is missing; it says which form of matrix file this is"));
  const std::string row = "{torch: 1, pkg: a}";
  CHECK_THAT(read("compatrix: 1\nlinked: [" + row + ", " + row + "]\n").error().text(),
             ContainsSubstring("m.yaml:2:30: this linked row stands here a second time"));
  std::string axes = "compatrix: 1\naxes:\n", requirement;
  for (const std::string name : {"a", "b", "c", "d", "e", "f"}) {
    axes += "  " + name + ": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]\n";
    requirement += "{" + name + "}";
  }
  CHECK_THAT(
      read(axes + "environment: {requirements: [\"" + requirement + "\"]}\nchecks: [torch_abi]\n").error().text(),
      ContainsSubstring("the axes make more than 1000000 cells"));
}

TEST_CASE("the caret stands under the place, columns count characters, a long line is cut", "[matrix]") {
  CHECK(error_after("reason: \"first\"}", "reason: \"ünïcödé\", cause2: \"\t\"}").find("m.yaml:10:106: unknown key") ==
        0);
  const std::string wide = "compatrix: 1\nchecks: [\"ü\",\t{a: 1}]\n";
  CHECK_THAT(read(wide + "environment: {requirements: [x]}\n").error().text(),
             ContainsSubstring("m.yaml:2:19: ") &&
                 ContainsSubstring("\n  2 | checks: [\"ü\",\t{a: 1}]\n    |              \t    ^"));
  std::string line = "compatrix: 1\n\"" + std::string(5000, 'x') + "\": 1, oops: [\n";
  const std::string cut = read(line).error().text();
  CHECK(cut.size() < 600);
  CHECK_THAT(read(std::string(200'000, '[')).error().text(), ContainsSubstring("[ …\n"));
}

TEST_CASE("a mistake is told with file, line, column, the line itself and the near word", "[matrix]") {
  CHECK_THAT(error_after("checks:", "cheks:"),
             ContainsSubstring("m.yaml:8:1: unknown key 'cheks' in a matrix, did you mean 'checks'?") &&
                 ContainsSubstring("8 | cheks: [torch_abi") && ContainsSubstring("^"));
  CHECK_THAT(error_after("{kernels}\"]", "{kernel}\"]"),
             ContainsSubstring("m.yaml:7:") &&
                 ContainsSubstring("'{kernel}' is no axis of this matrix, did you mean 'kernels'?"));
  CHECK_THAT(error_after("status: fail", "status: failed"),
             ContainsSubstring("unknown status 'failed', did you mean 'fail'?"));
  CHECK_THAT(error_after("cause: torch-abi", "cause: torch_abi"), ContainsSubstring("did you mean 'torch-abi'?"));
  CHECK_THAT(error_after("torch: 2.9.1, kernels: \"a==1\"}", "torch: 2.9.2, kernels: \"a==1\"}"),
             ContainsSubstring("axis 'torch' has no value '2.9.2', did you mean '2.9.1'?"));
  CHECK_THAT(error_after("2027-06-01", "next year"), ContainsSubstring("a date such as 2027-06-01 was expected"));
  CHECK_THAT(error_after("check: torch_abi, status: pass", "check: torch_api, status: pass"),
             ContainsSubstring("did you mean 'torch_abi'?"));
  CHECK_THAT(error_after("compatrix: 1", "compatrix: 2"), ContainsSubstring("reads matrix files of form 1"));
  CHECK_THAT(error_after(", reason: \"never built\"", ""), ContainsSubstring("the key 'reason' is missing"));
  CHECK_THAT(error_after("provider: wheels", "provider: wheel"), ContainsSubstring("did you mean 'wheels'?"));
}

TEST_CASE("a cell is not named after what nothing looks at", "[matrix]") {
  CHECK_THAT(error_after("torch: [1.10, 2.9.1]", "torch: [1.10, 2.9.1]\n  gpu: [sm_120]"),
             ContainsSubstring("axis 'gpu' is kept for checks that this version does not have"));
  CHECK_THAT(error_after("torch: [1.10, 2.9.1]", "torch: [1.10, 2.9.1]\n  flavour: [a]"),
             ContainsSubstring("axis 'flavour' is used in no requirement; write {flavour} where its value belongs"));
}

TEST_CASE("YAML's traps are closed", "[matrix]") {
  CHECK_THAT(error_after("name: made", "name: made\nname: again"),
             ContainsSubstring("m.yaml:3:1: 'name' stands here a second time (first in line 2)"));
  CHECK_THAT(read(kGood + "---\ncompatrix: 1\n").error().text(), ContainsSubstring("a second document begins here"));
  CHECK_THAT(read("").error().text(), ContainsSubstring("is empty"));
  CHECK_THAT(read("just a text\n").error().text(), ContainsSubstring("a matrix was expected"));
  CHECK_THAT(read("axes: [1, 2\nchecks: [").error().text(), ContainsSubstring("is no valid YAML here"));
  CHECK_THAT(read_matrix("/no/such/matrix.yaml").error().text(), ContainsSubstring("there is no such file"));
  CHECK_THAT(read(std::string(200'000, '[')).error().text(), ContainsSubstring("m.yaml"));
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 9; ++j) bomb += (j == 0 ? "*a" : ", *a") + std::to_string(i - 1);
    bomb += "]\n";
  }
  CHECK_THAT(read(bomb).error().text(), ContainsSubstring("stands for too many values"));
}
