// The vocabulary of answers: status, basis, cause, finding and the result they make up. Every report
// is a view of these values; words are the ones that appear in reports and matrix files.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace compatrix {

enum class Status { pass, warn, fail, error, crash, timeout, skip, excluded };
enum class Basis { predicted, observed };
// In the order in which a person should repair them.
enum class Cause {
  corrupt_wheel,
  python_abi,
  platform,
  driver,
  cuda_runtime,
  missing_library,
  torch_abi,
  nccl,
  gpu_architecture,
  layout_risk,
  initialiser,
  dependency_conflict,
};

std::string_view word(Status status);
std::string_view word(Basis basis);
std::string_view word(Cause cause);
std::optional<Status> parse_status(std::string_view word);
std::optional<Basis> parse_basis(std::string_view word);
std::optional<Cause> parse_cause(std::string_view word);

// One piece of evidence. Field keys may repeat: a repeated key is a list in JSON.
struct Finding {
  std::optional<Cause> cause;  // none: it speaks against nothing
  std::string kind;            // "undefined-symbol", "library-not-found", …
  std::string file;            // path inside the environment, or empty
  std::string message;         // one sentence
  std::vector<std::pair<std::string, std::string>> fields;
};

// What one check says of one cell.
struct CheckResult {
  std::string check;
  Status status = Status::error;
  Basis basis = Basis::predicted;
  std::optional<Cause> cause;  // primary
  std::string summary;         // one line
  std::vector<Finding> findings;
  std::vector<std::string> assumptions;
  std::vector<std::string> remedies;
  double duration_s = 0;
};

// The causes that a result names, the primary one first, each once.
std::vector<Cause> causes_of(const CheckResult& result);

}  // namespace compatrix
