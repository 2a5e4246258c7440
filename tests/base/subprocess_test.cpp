#include "framework/base/subprocess.h"

#include <catch2/catch_all.hpp>

using namespace compatrix;

TEST_CASE("a program's output, errors and exit code come back apart", "[subprocess]") {
  const auto run = run_program({.arguments = {"sh", "-c", "echo out; echo err >&2; exit 3"}, .environment = {}});
  REQUIRE(run);
  CHECK(run->output == "out\n");
  CHECK(run->errors == "err\n");
  CHECK(run->exit_code == 3);
}

TEST_CASE("a variable is set in the program's environment only", "[subprocess]") {
  const auto run = run_program(
      {.arguments = {"sh", "-c", "printf %s \"$FIXTURE_VALUE\""}, .environment = {{"FIXTURE_VALUE", "a b"}}});
  REQUIRE(run);
  CHECK(run->output == "a b");
  CHECK(std::getenv("FIXTURE_VALUE") == nullptr);
}

TEST_CASE("a program that does not end is ended, with what it started", "[subprocess]") {
  const auto run = run_program(
      {.arguments = {"sh", "-c", "sleep 60 & sleep 60"}, .environment = {}, .timeout = std::chrono::seconds(1)});
  REQUIRE(run);
  CHECK(run->timed_out);
  CHECK(run->exit_code == 128 + 9);
}

TEST_CASE("output beyond the limit is dropped, not kept", "[subprocess]") {
  const auto run =
      run_program({.arguments = {"sh", "-c", "head -c 5000000 /dev/zero"}, .environment = {}, .longest_output = 1000});
  REQUIRE(run);
  CHECK(run->output.size() == 1000);
  CHECK(run->exit_code == 0);
}

TEST_CASE("a program that is not there is an error that says so", "[subprocess]") {
  const auto run = run_program({.arguments = {"/no/such/program"}, .environment = {}});
  REQUIRE_FALSE(run);
  CHECK(run.error().text() == "/no/such/program: can't be started: No such file or directory");
}
