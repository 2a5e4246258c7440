#include "judgement.h"

#include <algorithm>

#include "causes.h"
#include "finding.h"
#include "importable.h"

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
      std::count_if(files.begin(), files.end(), [](const FileOutcome& f) { return f.counts(); }));
}

std::size_t Judgement::failing() const {
  return static_cast<std::size_t>(std::count_if(
      files.begin(), files.end(), [](const FileOutcome& f) { return f.counts() && f.outcome != COMPATRIX_LOADS; }));
}

bool Judgement::counts(const Obstacle& obstacle) const {
  return std::any_of(obstacle.files.begin(), obstacle.files.end(), [&](const std::string& path) {
    return std::any_of(files.begin(), files.end(),
                       [&](const FileOutcome& file) { return file.path == path && file.counts(); });
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
    return f.counts() && f.outcome == COMPATRIX_LOADS && f.layout.verdict == verdict;
  }));
}

std::size_t Judgement::undefined_symbols() const {
  return static_cast<std::size_t>(std::count_if(obstacles.begin(), obstacles.end(), [this](const Obstacle& o) {
    return o.kind == "undefined-symbol" && o.cause == kTorchAbi && counts(o);
  }));
}

std::vector<std::string> Judgement::missing_libraries(std::string_view cause) const {
  std::vector<std::string> missing;
  for (const Obstacle& obstacle : obstacles)
    if (obstacle.kind == "library-not-found" && obstacle.cause == cause && counts(obstacle))
      missing.push_back(obstacle.library);
  return missing;
}

std::string Judgement::built_with() const {
  std::vector<std::string> texts;
  for (const FileOutcome& file : files)
    if (file.counts() && file.layout.build.known()) add_once(texts, file.layout.build.text());
  return texts.size() == 1 ? "torch " + texts.front() : "";
}

std::size_t Judgement::dying() const {
  return static_cast<std::size_t>(std::count_if(
      files.begin(), files.end(), [](const FileOutcome& f) { return f.counts() && f.first_cause == kInitialiser; }));
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

namespace {

// What a file lacks only because one that is opened before it failed.
bool follows_from(const compatrix_load_problem& problem, const std::vector<std::string>& before) {
  if (before.empty()) return false;
  const std::string_view library = problem.library;
  if (std::string_view(problem.kind) == "undefined-symbol") return cause_of(problem, true) == kMissingLibrary;
  return std::any_of(before.begin(), before.end(), [&](const std::string& path) {
    return std::string_view(path).substr(path.rfind('/') + 1) == library;
  });
}

}  // namespace

void add_problems(Judgement& judgement, const compatrix_load& load, const std::string& file,
                  const std::vector<std::string>& before) {
  const auto* end = load.problems + load.problem_count;
  const bool library_missing =
      std::any_of(load.problems, end, [](const auto& p) { return std::string_view(p.kind) == "library-not-found"; });
  for (const auto* problem = load.problems; problem != end; ++problem) {
    if (follows_from(*problem, before)) continue;
    auto known = std::find_if(judgement.obstacles.begin(), judgement.obstacles.end(),
                              [&](const Obstacle& o) { return same(o, *problem); });
    if (known == judgement.obstacles.end())
      known = judgement.obstacles.insert(known, obstacle_of(*problem, library_missing));
    add_once(known->files, file);
    add_once(known->needed_by, problem->object);
  }
}

namespace {

using Loads = std::map<std::string, const compatrix_load*>;

Loads open_each(const Cell& cell, compatrix_process* process, const std::vector<Package>& packages) {
  std::vector<const char*> paths;
  for (const Package& package : packages)
    for (const std::string& file : package.files) paths.push_back(file.c_str());
  cell.linker->prepare(process, paths.data(), paths.size());
  Loads loads;
  for (const char* path : paths) {
    loads[path] = cell.linker->try_open(process, path);
    if (loads[path] == nullptr) throw FactsUnavailable{};
  }
  return loads;
}

// The same files once more, each after those before it in its sequence.
Loads open_in_order(const Cell& cell, compatrix_process* process, const Package& package) {
  Loads loads;
  if (package.data == nullptr) return loads;
  for (const std::vector<std::string>& sequence : sequences_of(*package.data))
    for (const std::string& file : sequence) {
      if (std::find(package.files.begin(), package.files.end(), file) == package.files.end()) continue;
      loads[file] = cell.linker->open(process, file.c_str(), COMPATRIX_OPEN_LOCAL);
      if (loads[file] == nullptr) throw FactsUnavailable{};
    }
  return loads;
}

std::vector<std::string> failed_before(const Loads& in_order, const Package& package, const std::string& file) {
  std::vector<std::string> failed;
  if (package.data == nullptr) return failed;
  for (const std::vector<std::string>& sequence : sequences_of(*package.data))
    if (const auto self = std::find(sequence.begin(), sequence.end(), file); self != sequence.end())
      for (auto before = sequence.begin(); before != self; ++before)
        if (const auto load = in_order.find(*before);
            load != in_order.end() && load->second->outcome != COMPATRIX_LOADS)
          failed.push_back(*before);
  return failed;
}

FileOutcome outcome_of(const std::string& file, const compatrix_load& load) {
  FileOutcome outcome{
      .path = file, .outcome = load.outcome, .message = load.message, .first_cause = {}, .uncounted = {}};
  if (load.problem_count != 0) outcome.first_cause = cause_of(load.problems[0], true);
  outcome.from_system.assign(load.from_system, load.from_system + load.from_system_count);
  outcome.assumed.assign(load.assumed, load.assumed + load.assumed_count);
  return outcome;
}

}  // namespace

Judgement judge(const Cell& cell, compatrix_process* process, const std::vector<Package>& packages) {
  Judgement judgement;
  const Loads alone = open_each(cell, process, packages);
  for (const Package& package : packages) {
    const std::map<std::string, std::string> others = passed_over(package.files, interpreter_of(cell));
    const Loads in_order = open_in_order(cell, process, package);
    for (const std::string& file : package.files) {
      const compatrix_load* by_itself = alone.at(file);
      const auto ordered = in_order.find(file);
      const compatrix_load* load = ordered == in_order.end() ? by_itself : ordered->second;
      FileOutcome outcome = outcome_of(file, *load);
      if (const auto other = others.find(file); other != others.end()) outcome.uncounted = other->second;
      if (by_itself->outcome != load->outcome || std::string_view(by_itself->message) != load->message)
        outcome.alone = Alone{.outcome = by_itself->outcome, .message = by_itself->message};
      judgement.files.push_back(std::move(outcome));
      add_problems(judgement, *load, file, failed_before(in_order, package, file));
    }
  }
  return judgement;
}

}  // namespace torch_abi
