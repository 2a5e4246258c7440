#include "framework/checks/verdict.h"

#include <algorithm>
#include <array>

namespace compatrix {
namespace {

constexpr std::array<std::string_view, 8> kStatuses{"pass",  "warn",    "fail", "error",
                                                    "crash", "timeout", "skip", "excluded"};
constexpr std::array<std::string_view, 2> kBases{"predicted", "observed"};
constexpr std::array<std::string_view, 12> kCauses{
    "corrupt-wheel", "python-abi", "platform",         "driver",      "cuda-runtime", "missing-library",
    "torch-abi",     "nccl",       "gpu-architecture", "layout-risk", "initialiser",  "dependency-conflict"};

template <class Enum, std::size_t N>
std::optional<Enum> parse(const std::array<std::string_view, N>& words, std::string_view word) {
  const auto found = std::find(words.begin(), words.end(), word);
  return found == words.end() ? std::nullopt : std::optional(static_cast<Enum>(found - words.begin()));
}

}  // namespace

std::string_view word(Status status) {
  return kStatuses.at(static_cast<std::size_t>(status));
}
std::string_view word(Basis basis) {
  return kBases.at(static_cast<std::size_t>(basis));
}
std::string_view word(Cause cause) {
  return kCauses.at(static_cast<std::size_t>(cause));
}
std::optional<Status> parse_status(std::string_view word) {
  return parse<Status>(kStatuses, word);
}
std::optional<Basis> parse_basis(std::string_view word) {
  return parse<Basis>(kBases, word);
}
std::optional<Cause> parse_cause(std::string_view word) {
  return parse<Cause>(kCauses, word);
}

std::vector<Cause> causes_of(const CheckResult& result) {
  std::vector<Cause> causes;
  const auto add = [&](const std::optional<Cause>& cause) {
    if (cause && std::find(causes.begin(), causes.end(), *cause) == causes.end()) causes.push_back(*cause);
  };
  add(result.cause);
  for (const Finding& finding : result.findings) add(finding.cause);
  return causes;
}

}  // namespace compatrix
