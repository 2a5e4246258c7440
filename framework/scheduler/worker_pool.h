// Evaluates jobs in worker processes that can die without hurting the run. Each worker is this program again
// (`compatrix worker`), talks length-prefixed JSON frames on its own descriptor, takes many jobs, and is replaced
// when it crashes or runs past its time. A result counts only with its end marker.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "framework/base/result.h"
#include "framework/checks/verdict.h"

namespace compatrix {

// One check of one cell.
struct Job {
  std::string cell;                           // cell id
  std::string check;                          // check id
  std::filesystem::path plugin;               // the shared object that has the check
  std::string request;                        // JSON text for the worker's evaluator: environment, parameters
  std::chrono::milliseconds timeout{60'000};  // of evaluation; waiting for facts does not count
};

// Answers a worker's request for facts (JSON in, JSON out); called on threads of the coordinator, several at once.
using FactBroker = std::function<nlohmann::json(const nlohmann::json& wanted)>;

// Called for each job as it ends, one call at a time.
using JobDone = std::function<void(const Job& job, const CheckResult& result)>;

struct WorkerPoolOptions {
  int workers = 2;
  std::filesystem::path program;                             // the executable that is started as `program worker`
  std::function<bool()> interrupted = [] { return false; };  // true: start nothing more, end the workers
};

// Runs every job (in order of the span, as workers become free). A job whose worker dies, is silent past its timeout
// or answers without an end marker gets status crash or timeout with the signal named; the others go on.
void run_jobs(std::span<const Job> jobs, const WorkerPoolOptions& options, const FactBroker& broker,
              const JobDone& done);

// The worker's side. `evaluate` gets a job's check id, plugin path and request, and a function with which to ask the
// coordinator for facts; it returns the result.
struct WorkerRequest {
  std::string check;
  std::filesystem::path plugin;
  std::string request;
  std::function<nlohmann::json(const nlohmann::json& wanted)> ask;
};
using Evaluate = std::function<CheckResult(const WorkerRequest& request)>;

// Serves jobs on the descriptor that the coordinator passed until it is closed. Returns the exit status.
int serve_jobs(const Evaluate& evaluate);

}  // namespace compatrix
