// A worker that behaves or misbehaves as the check's id says.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "framework/scheduler/worker_pool.h"

namespace {

using compatrix::CheckResult;
using compatrix::Status;

void write_frame(const std::string& json) {
  const auto size = static_cast<std::uint32_t>(json.size());
  std::string frame(reinterpret_cast<const char*>(&size), 4);
  frame += json;
  if (::write(3, frame.data(), frame.size()) < 0) ::_exit(1);
}

CheckResult behave(const compatrix::WorkerRequest& request) {
  const std::string& check = request.check;
  if (check == "abort") std::abort();
  if (check == "segfault") ::raise(SIGSEGV);
  if (check == "exit") ::_exit(0);
  if (check == "sleep" || check == "leaves_child") {
    if (check == "leaves_child" && ::fork() == 0) std::this_thread::sleep_for(std::chrono::seconds(300));
    std::this_thread::sleep_for(std::chrono::seconds(300));
  }
  if (check == "ignores_term") {
    ::signal(SIGTERM, SIG_IGN);
    std::this_thread::sleep_for(std::chrono::seconds(300));
  }
  if (check == "flood") {
    for (int i = 0; i < 200'000; ++i) std::puts("a line of output that nobody asked for");
    std::puts("last words");
    std::fflush(stdout);
    std::abort();
  }
  if (check == "real_time_signal") ::raise(SIGRTMIN + 1);  // a signal without a name
  if (check == "child_outlives") {
    if (::fork() == 0) {
      std::this_thread::sleep_for(std::chrono::seconds(300));
      ::_exit(0);
    }
    std::abort();
  }
  if (check == "no_end_marker") {
    write_frame(nlohmann::json{{"type", "result"},
                               {"job", 0},
                               {"result",
                                {{"check", check},
                                 {"status", "pass"},
                                 {"basis", "predicted"},
                                 {"summary", "fine"},
                                 {"duration_s", 0.0},
                                 {"findings", nlohmann::json::array()},
                                 {"assumptions", nlohmann::json::array()},
                                 {"remedy", nlohmann::json::array()}}}}
                    .dump());
    ::_exit(0);
  }
  if (check == "garbage") {
    const char bytes[] = "\xff\xff\xff\xffgarbage";
    if (::write(3, bytes, sizeof bytes) < 0) ::_exit(1);
    std::this_thread::sleep_for(std::chrono::seconds(300));
  }
  if (check == "forged_end") {
    write_frame(R"({"type":"end","job":0})");
    std::this_thread::sleep_for(std::chrono::seconds(300));
  }
  if (check == "environment")
    return {.check = check,
            .status = Status::pass,
            .summary = std::getenv("COMPATRIX_SECRET") != nullptr ? "leaked" : "clean"};
  if (check == "asks") {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return {.check = check,
            .status = Status::pass,
            .summary = request.ask({{"name", request.request}}).at("told").get<std::string>()};
  }
  return {.check = check, .status = Status::pass, .summary = "fine"};
}

}  // namespace

int main() {
  return compatrix::serve_jobs(&behave);
}
