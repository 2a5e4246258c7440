// The views of a run. Every report is a pure function of the journal: what was planned and what came of it.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "framework/base/result.h"
#include "framework/checks/verdict.h"

namespace compatrix {

// A check's result with what was expected of it.
struct ReportedResult {
  CheckResult result;
  bool expected = false;           // an expectation speaks of it, and it holds
  std::string expectation_reason;  // of the expectation that speaks of it
  std::string broken_expectation;  // one sentence: why that expectation no longer holds; empty otherwise
};

struct ReportedCell {
  std::string id;
  std::vector<std::pair<std::string, std::string>> axes;
  std::string excluded;                 // reason; empty: not excluded
  std::string error;                    // why the environment could not be made; empty: it was
  std::string environment_json = "{}";  // resolved cell: lock digest, distributions with file names and digests
  std::vector<ReportedResult> results;
};

struct Report {
  std::string name;  // of the matrix, or of the command
  std::string tool_version;
  std::string started;  // UTC, YYYY-MM-DDTHH:MM:SS
  std::string host;
  double duration_s = 0;
  bool interrupted = false;
  std::vector<ReportedCell> cells;
};

nlohmann::ordered_json results_json(const Report& report);
std::string junit_xml(const Report& report);

// The table for people: one row per cell, one column per check, then each failure once with cause, evidence, remedy.
struct TableOptions {
  bool colour = false;
  int width = 100;  // columns of the terminal
};
std::string result_table(const Report& report, const TableOptions& options);

// 0, 1, 3, 4 or 130 as docs/exit-codes.md has it: 1 before 3; expected failures count as 0.
int exit_code(const Report& report);

// Written beside, synced and renamed: a reader sees the old file or the new one.
Result<Done> write_file_atomically(const std::filesystem::path& file, const std::string& content);

}  // namespace compatrix
