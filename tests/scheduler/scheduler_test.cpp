#include "framework/scheduler/worker_pool.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include <catch2/catch_all.hpp>
#include <nlohmann/json.hpp>

#include "tests/support/scratch_folder.h"

using namespace compatrix;
using Catch::Matchers::ContainsSubstring;

namespace {

std::map<std::string, CheckResult> results_of(const std::vector<std::string>& checks, WorkerPoolOptions options = {}) {
  std::vector<Job> jobs;
  for (const std::string& check : checks)
    jobs.push_back({.cell = std::to_string(jobs.size()),
                    .check = check,
                    .plugin = {},
                    .request = "request " + check,
                    .timeout = std::chrono::milliseconds(1500)});
  if (options.program.empty()) options.program = TEST_WORKER;
  std::map<std::string, CheckResult> results;
  run_jobs(
      jobs, options,
      [](const nlohmann::json& wanted) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2000));  // longer than the job's own time
        return nlohmann::json{{"told", "facts for " + wanted.at("name").get<std::string>()}};
      },
      [&](const Job& job, const CheckResult& result) { results[job.check] = result; });
  return results;
}

int workers_running() {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream in(entry.path() / "cmdline");
    std::string line;
    std::getline(in, line, '\0');
    count += line == TEST_WORKER ? 1 : 0;
  }
  return count;
}

// Processes of the test worker that stay. One that was killed but is not our child may need a moment to be gone.
int workers_left() {
  for (int i = 0; i < 200 && workers_running() != 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  return workers_running();
}

}  // namespace

TEST_CASE("whatever a worker does, the others' answers stand and no process is left", "[scheduler]") {
  const std::vector<std::string> checks{"fine",         "abort", "segfault", "exit",       "sleep",    "leaves_child",
                                        "ignores_term", "flood", "garbage",  "forged_end", "also fine"};
  const auto results = results_of(checks);
  REQUIRE(results.size() == checks.size());
  CHECK(results.at("fine").status == Status::pass);
  CHECK(results.at("also fine").status == Status::pass);
  CHECK(results.at("abort").status == Status::crash);
  CHECK_THAT(results.at("abort").summary, ContainsSubstring("SIGABRT"));
  CHECK_THAT(results.at("segfault").summary,
             ContainsSubstring("SIGSEGV") || ContainsSubstring("exit status"));  // a sanitizer exits
  CHECK(results.at("exit").status == Status::crash);
  CHECK_THAT(results.at("exit").summary, ContainsSubstring("exit status 0"));
  for (const char* slow : {"sleep", "leaves_child", "ignores_term"}) {
    CHECK(results.at(slow).status == Status::timeout);
    CHECK_THAT(results.at(slow).summary, ContainsSubstring("no answer within 1.5 s"));
  }
  CHECK(results.at("flood").status == Status::crash);
  CHECK_THAT(results.at("flood").findings.at(0).fields.at(0).second, ContainsSubstring("last words"));
  CHECK(results.at("garbage").status == Status::crash);
  CHECK(results.at("forged_end").status == Status::crash);
  CHECK(workers_left() == 0);
}

TEST_CASE("a result without its end marker is no answer, even a pass with exit status 0", "[scheduler]") {
  const auto results = results_of({"no_end_marker"});
  CHECK(results.at("no_end_marker").status == Status::crash);
  CHECK_THAT(results.at("no_end_marker").summary, ContainsSubstring("exit status 0"));
}

TEST_CASE("a worker that dies of a signal without a name is a crash that tells its number", "[scheduler]") {
  const auto results = results_of({"real_time_signal", "fine"}, {.workers = 1});
  CHECK(results.at("real_time_signal").status == Status::crash);
  CHECK_THAT(results.at("real_time_signal").summary, ContainsSubstring("signal 35"));
  CHECK(results.at("fine").status == Status::pass);
}

TEST_CASE("a worker's death is seen although a process that it started holds its socket", "[scheduler]") {
  const auto results = results_of({"child_outlives"});
  CHECK(results.at("child_outlives").status == Status::crash);
  CHECK_THAT(results.at("child_outlives").summary, ContainsSubstring("SIGABRT"));
  CHECK(workers_left() == 0);
}

TEST_CASE("facts that can't be had are an error, not the worker's crash", "[scheduler]") {
  const std::vector<Job> jobs{{.cell = "1", .check = "asks", .plugin = {}, .request = "r"},
                              {.cell = "1", .check = "fine", .plugin = {}, .request = "r"}};
  std::map<std::string, CheckResult> results;
  run_jobs(
      jobs, {.workers = 1, .program = TEST_WORKER},
      [](const nlohmann::json&) -> nlohmann::json { throw std::runtime_error("the disk is full"); },
      [&](const Job& job, const CheckResult& result) { results[job.check] = result; });
  CHECK(results.at("asks").status == Status::error);
  CHECK_THAT(results.at("asks").summary, ContainsSubstring("the disk is full"));
  CHECK(results.at("fine").status == Status::pass);
}

TEST_CASE("a job that can't be written as JSON is an error of that job alone", "[scheduler]") {
  const std::vector<Job> jobs{{.cell = "1", .check = "fine", .plugin = "/plugins/\xff.so", .request = "r"},
                              {.cell = "2", .check = "fine", .plugin = {}, .request = "r"}};
  std::map<std::string, CheckResult> results;
  run_jobs(
      jobs, {.workers = 1, .program = TEST_WORKER}, [](const nlohmann::json&) { return nlohmann::json(); },
      [&](const Job& job, const CheckResult& result) { results[job.cell] = result; });
  CHECK(results.at("1").status == Status::error);
  CHECK(results.at("2").status == Status::pass);
}

TEST_CASE("waiting for facts does not count as the check's time", "[scheduler]") {
  const auto results = results_of({"asks"});
  CHECK(results.at("asks").status == Status::pass);
  CHECK(results.at("asks").summary == "facts for request asks");
}

TEST_CASE("a worker does not see the coordinator's secrets", "[scheduler]") {
  setenv("COMPATRIX_SECRET", "token", 1);
  CHECK(results_of({"environment"}).at("environment").summary == "clean");
  unsetenv("COMPATRIX_SECRET");
}

TEST_CASE("a worker program that can't be started is an error for each job", "[scheduler]") {
  const auto results = results_of({"fine", "also fine"}, {.program = "/no/such/worker"});
  CHECK(results.at("fine").status == Status::error);
  CHECK_THAT(results.at("also fine").summary, ContainsSubstring("/no/such/worker: no worker can be started"));
}

TEST_CASE("a worker program that the system refuses to run is an error, not a crash", "[scheduler]") {
  const support::ScratchFolder folder;
  const auto program = folder.write("worker", "no program");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const auto results = results_of({"fine", "also fine"}, {.program = program});
  for (const char* check : {"fine", "also fine"}) {
    CHECK(results.at(check).status == Status::error);
    CHECK_THAT(results.at(check).summary, ContainsSubstring("no worker can be started: Exec format error"));
  }
}

TEST_CASE("an interrupted run ends its workers and starts nothing more", "[scheduler]") {
  const auto results =
      results_of({"sleep", "fine"}, {.workers = 1, .interrupted = [begun = std::chrono::steady_clock::now()] {
                                       return std::chrono::steady_clock::now() - begun > std::chrono::milliseconds(300);
                                     }});
  CHECK(results.size() == 1);
  CHECK(results.at("sleep").status == Status::error);
  CHECK(workers_left() == 0);
}
