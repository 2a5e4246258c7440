// What `run` and `check` share: a matrix is evaluated, every event goes to the journal first, the reports are made from
// it.
#pragma once

#include <filesystem>
#include <string>

#include "framework/base/result.h"
#include "framework/matrix/matrix.h"
#include "reports/report.h"

namespace compatrix::cli {

struct EvaluationRequest {
  Matrix matrix;
  std::filesystem::path locks;    // folder of the frozen locks
  std::filesystem::path journal;  // file
  bool refresh = false;
  bool offline = false;
  int workers = 2;
};

// The report of the run, made from its journal. An Error only where nothing could be begun.
Result<Report> evaluate(const EvaluationRequest& request);

// 0, 1, 3, 4, and 128 + signal of an interrupted run.
int exit_status(const Report& report);

// Number of workers when none is asked for.
int default_workers();

}  // namespace compatrix::cli
