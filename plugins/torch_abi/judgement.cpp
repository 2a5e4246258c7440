#include "judgement.h"

#include <algorithm>

#include "causes.h"
#include "finding.h"

namespace torch_abi {
namespace {

bool same(const Obstacle& a, const compatrix_load_problem& b) {
  return a.kind == b.kind && a.library == b.library && a.symbol == b.symbol && a.version == b.version;
}

Obstacle obstacle_of(const compatrix_load_problem& problem, bool library_missing) {
  return {.cause = std::string(cause_of(problem, library_missing)),
          .kind = problem.kind,
          .library = problem.library,
          .symbol = problem.symbol,
          .demangled = problem.demangled,
          .version = problem.version,
          .expected_in = problem.expected_in,
          .message = problem.message,
          .other_string_abi = problem.other_string_abi,
          .instead = {problem.instead, problem.instead + problem.instead_count},
          .searched = {problem.searched, problem.searched + problem.searched_count}};
}

}  // namespace

std::size_t Judgement::counted() const {
  return static_cast<std::size_t>(
      std::count_if(files.begin(), files.end(), [](const FileOutcome& f) { return !f.other_python; }));
}

std::size_t Judgement::failing() const {
  return static_cast<std::size_t>(std::count_if(files.begin(), files.end(), [](const FileOutcome& f) {
    return !f.other_python && f.outcome != COMPATRIX_LOADS;
  }));
}

bool Judgement::counts(const Obstacle& obstacle) const {
  return std::any_of(obstacle.files.begin(), obstacle.files.end(), [&](const std::string& path) {
    return std::any_of(files.begin(), files.end(),
                       [&](const FileOutcome& file) { return file.path == path && !file.other_python; });
  });
}

std::vector<std::string> Judgement::causes() const {
  std::vector<std::string> causes;
  for (const Obstacle& obstacle : obstacles)
    if (counts(obstacle)) add_once(causes, obstacle.cause);
  std::stable_sort(causes.begin(), causes.end(),
                   [](const std::string& a, const std::string& b) { return repair_order(a) < repair_order(b); });
  return causes;
}

std::size_t Judgement::with_layout(LayoutVerdict verdict) const {
  return static_cast<std::size_t>(std::count_if(files.begin(), files.end(), [&](const FileOutcome& f) {
    return !f.other_python && f.outcome == COMPATRIX_LOADS && f.layout.verdict == verdict;
  }));
}

void apply_layout(Judgement& judgement, const std::map<std::string, FileLayout>& layouts, const std::string& torch) {
  for (FileOutcome& file : judgement.files) {
    const auto found = layouts.find(file.path);
    if (found == layouts.end()) continue;
    file.layout = found->second;
    if (file.outcome != COMPATRIX_LOADS || file.layout.verdict != LayoutVerdict::initialiser) continue;
    file.outcome = COMPATRIX_LOAD_KILLS;
    file.first_cause = kInitialiser;
    file.message = file.path + ": every symbol resolves, and its static initialisers would end the process";
    auto known = std::find_if(judgement.obstacles.begin(), judgement.obstacles.end(),
                              [](const Obstacle& o) { return o.cause == kInitialiser; });
    if (known == judgement.obstacles.end())
      known = judgement.obstacles.insert(
          known, {.cause = std::string(kInitialiser),
                  .kind = "initialiser",
                  .message = "every symbol resolves, but files built with torch " + file.layout.build.text() +
                             " that register operators die in their static initialisers beside " + torch});
    known->files.push_back(file.path);
  }
}

void add_problems(Judgement& judgement, const compatrix_load& load, const std::string& file) {
  const auto* end = load.problems + load.problem_count;
  const bool library_missing =
      std::any_of(load.problems, end, [](const auto& p) { return std::string_view(p.kind) == "library-not-found"; });
  for (const auto* problem = load.problems; problem != end; ++problem) {
    auto known = std::find_if(judgement.obstacles.begin(), judgement.obstacles.end(),
                              [&](const Obstacle& o) { return same(o, *problem); });
    if (known == judgement.obstacles.end())
      known = judgement.obstacles.insert(known, obstacle_of(*problem, library_missing));
    add_once(known->files, file);
    add_once(known->needed_by, problem->object);
  }
}

Judgement judge(const Cell& cell, compatrix_process* process, const std::vector<std::string>& files) {
  Judgement judgement;
  std::vector<const char*> paths;
  for (const std::string& file : files) paths.push_back(file.c_str());
  cell.linker->prepare(process, paths.data(), paths.size());
  for (const std::string& file : files) {
    const compatrix_load* load = cell.linker->try_open(process, file.c_str());
    if (load == nullptr) throw FactsUnavailable{};
    FileOutcome outcome{.path = file,
                        .outcome = load->outcome,
                        .message = load->message,
                        .other_python = for_another_python(file, cell.environment->python_version(cell.run))};
    if (load->problem_count != 0) outcome.first_cause = cause_of(load->problems[0], true);
    judgement.files.push_back(std::move(outcome));
    add_problems(judgement, *load, file);
    for (std::size_t i = 0; i < load->from_system_count; ++i) add_once(judgement.from_system, load->from_system[i]);
    for (std::size_t i = 0; i < load->assumed_count; ++i) add_once(judgement.assumed, load->assumed[i]);
  }
  return judgement;
}

}  // namespace torch_abi
