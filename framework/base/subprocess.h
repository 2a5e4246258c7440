// Runs another program to its end, without a shell: bounded output, bounded time, nothing inherited but what is named.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/result.h"

namespace compatrix {

struct ProgramRun {
  std::vector<std::string> arguments;  // the program's path first (looked up on PATH where it has no slash)
  std::vector<std::pair<std::string, std::string>> environment;  // set in addition to this process's own
  std::chrono::seconds timeout{120};
  std::size_t longest_output = 1U << 20;  // bytes kept of each stream
};

struct ProgramOutcome {
  int exit_code = -1;  // 128 + signal where one ended it
  bool timed_out = false;
  std::string output, errors;  // standard output and standard error
};

// An Error where the program could not be started at all.
Result<ProgramOutcome> run_program(const ProgramRun& run);

}  // namespace compatrix
