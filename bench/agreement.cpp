// Holds what torch_abi predicts against what the real dynamic linker said: folders of truth files, each an environment
// with one torch, wheels that were opened file by file in it, and the outcome of each.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "framework/answers/matrix_run.h"
#include "framework/checks/evaluate.h"
#include "framework/environment/interpreter.h"
#include "framework/scheduler/worker_pool.h"
#include "framework/wheel/dist_info.h"

namespace {

using namespace compatrix;
using Json = nlohmann::ordered_json;
using Outcomes = std::map<std::string, std::string>;  // file to the loader's word

// One wheel in one environment.
struct Pair {
  std::string torch, python, wheel;
  std::vector<std::string> installed;
  Outcomes truth, predicted;
  std::string failure;  // why nothing could be predicted
};

std::vector<Pair> read_truths(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Pair> pairs;
  for (const auto& file : files) {
    std::ifstream in(file);
    const Json truth = Json::parse(in);
    for (const auto& [wheel, outcomes] : truth.at("wheels").items())
      pairs.push_back({.torch = truth.at("torch").get<std::string>(),
                       .python = truth.at("python").get<std::string>(),
                       .wheel = wheel,
                       .installed = truth.at("installed").get<std::vector<std::string>>(),
                       .truth = outcomes.get<Outcomes>(),
                       .predicted = {},
                       .failure = {}});
  }
  return pairs;
}

std::string project_of(const std::string& requirement) {
  return wheel::normalise_project(requirement.substr(0, requirement.find("==")));
}

Result<Environment> environment_for(const Pair& pair, Fetcher& fetcher, const std::filesystem::path& locks) {
  wheel::LockRequest request;
  request.without_dependencies = true;
  request.target.python = pair.python;
  for (const std::string& pinned : pair.installed)
    if (project_of(pinned) != project_of(pair.wheel)) request.requirements.push_back(pinned);
  request.requirements.push_back(pair.wheel);
  const auto file = lock_file(locks, pair.torch + "," + pair.wheel, request);
  if (!std::filesystem::exists(file))
    if (const auto locked = wheel::write_lock(request, file); !locked) return locked.error();
  const auto lock = wheel::read_lock(file, request.target);
  if (!lock) return lock.error();
  if (const auto learnt = fetcher.learn(*lock); !learnt) return learnt.error();
  return environment_of(*lock, {project_of(pair.wheel)}, request.target, find_interpreter(pair.python));
}

void take_outcomes(Pair& pair, const CheckResult& result) {
  for (const Finding& finding : result.findings) {
    if (finding.kind != "file-outcome") continue;
    std::string word = finding.message;
    for (const auto& [key, value] : finding.fields)
      if (key == "outcome" && value == "kills")
        word = "crash: " + finding.message;
      else if (key == "layout" && value == "risk" && word == "loads")
        word = "layout-risk";
    pair.predicted[finding.file] = word;
  }
  if (pair.predicted.empty()) pair.failure = result.summary;
}

enum class Kind { loads, risk, fails, crash, unknown };
constexpr const char* kKindNames[] = {"loads", "layout-risk", "fails", "crash", "not judged"};

Kind kind_of(const std::string& word) {
  if (word == "loads") return Kind::loads;
  if (word == "layout-risk") return Kind::risk;
  return word.starts_with("crash") ? Kind::crash : Kind::fails;
}

// Why the prediction misses, as far as the two words tell.
std::string reason_for(const std::string& truth, const std::string& predicted) {
  if (predicted.empty()) return "the file is no shared object by its name";
  if (kind_of(truth) == Kind::crash) return "dies in its initialisers, which symbols do not show";
  if (kind_of(truth) == kind_of(predicted)) return "same outcome, another problem named first";
  return "other outcome";
}

// The loader's own message to the letter; of a death that it was foreseen, or at least warned of; a warning that all
// symbols resolve and the layout may not be right says that dlopen loads the file.
bool agrees(const std::string& truth, const std::string& predicted) {
  if (predicted.empty()) return false;
  const Kind said = kind_of(predicted);
  if (kind_of(truth) == Kind::crash) return said == Kind::crash || said == Kind::risk;
  return truth == predicted || (truth == "loads" && said == Kind::risk);
}

struct Tally {
  std::map<std::pair<Kind, Kind>, int> table;
  std::map<std::string, int> reasons;
  int agreed = 0, total = 0;
};

void compare(const Pair& pair, Tally& tally) {
  for (const auto& [file, truth] : pair.truth) {
    const auto found = pair.predicted.find(file);
    const std::string predicted = found == pair.predicted.end() ? "" : found->second;
    ++tally.total;
    ++tally.table[{kind_of(truth), predicted.empty() ? Kind::unknown : kind_of(predicted)}];
    if (agrees(truth, predicted)) {
      ++tally.agreed;
      if (kind_of(truth) != kind_of(predicted))
        fmt::print("torch {} {} {}: truth {}, predicted {}\n", pair.torch, pair.wheel, file, truth, predicted);
      continue;
    }
    const std::string reason = pair.failure.empty() ? reason_for(truth, predicted) : pair.failure;
    ++tally.reasons[reason];
    fmt::print("torch {} {} {}\n  truth      {}\n  predicted  {}\n  because    {}\n", pair.torch, pair.wheel, file,
               truth, predicted.empty() ? "-" : predicted, reason);
  }
}

void print(const Tally& tally) {
  fmt::print("\n{:<18}{:>12}{:>12}{:>12}{:>12}{:>12}\n", "truth \\ predicted", "loads", "layout-risk", "fails", "crash",
             "not judged");
  for (const Kind truth : {Kind::loads, Kind::fails, Kind::crash}) {
    fmt::print("{:<18}", kKindNames[static_cast<int>(truth)]);
    for (const Kind predicted : {Kind::loads, Kind::risk, Kind::fails, Kind::crash, Kind::unknown}) {
      const auto count = tally.table.find({truth, predicted});
      fmt::print("{:>12}", count == tally.table.end() ? 0 : count->second);
    }
    fmt::print("\n");
  }
  for (const auto& [reason, count] : tally.reasons) fmt::print("{:>5} missed: {}\n", count, reason);
  fmt::print("agreement {} of {}\n", tally.agreed, tally.total);
}

int run(std::vector<std::string> arguments) {
  const std::filesystem::path program = arguments.front();
  std::string platform;
  if (arguments.size() > 2 && arguments[1] == "--platform") {
    platform = arguments[2];
    arguments.erase(arguments.begin() + 1, arguments.begin() + 3);
  }
  std::vector<Pair> pairs;
  for (std::size_t i = 1; i < arguments.size(); ++i)
    for (Pair& pair : read_truths(arguments[i])) pairs.push_back(std::move(pair));
  const std::filesystem::path store = facts::default_store_folder(), locks = store.parent_path() / "locks";
  Fetcher fetcher(facts::FactStore(store), {});
  const PluginCatalogue catalogue = find_plugins({program.parent_path() / "plugins"});
  const PluginFile* plugin = catalogue.with_check("torch_abi");
  if (plugin == nullptr || pairs.empty()) {
    fmt::print(stderr, "no torch_abi plugin beside {} or no truth files\n", program.string());
    return 2;
  }
  std::vector<Job> jobs;
  std::map<std::string, Pair*> by_cell;
  for (Pair& pair : pairs) {
    fmt::print(stderr, "torch {} {}\n", pair.torch, pair.wheel);
    auto environment = environment_for(pair, fetcher, locks);
    if (!environment) {
      pair.failure = environment.error().text();
      continue;
    }
    environment->platform = platform;
    Job job{.cell = pair.torch + " " + pair.wheel,
            .check = "torch_abi",
            .plugin = plugin->path,
            .request = encode_question({.environment = *environment, .parameters = {}}, store)};
    by_cell[job.cell] = &pair;
    jobs.push_back(std::move(job));
  }
  run_jobs(
      jobs, {.workers = 2, .program = program},
      [&](const nlohmann::json& wanted) {
        auto errors = nlohmann::json::array();
        for (const Error& error : fetcher.fetch(wants_from_json(wanted))) errors.push_back(error.text());
        return nlohmann::json{{"errors", errors}};
      },
      [&](const Job& job, const CheckResult& result) {
        fmt::print(stderr, "{}: {}\n", job.cell, result.summary);
        take_outcomes(*by_cell.at(job.cell), result);
      });
  Tally tally;
  for (const Pair& pair : pairs) compare(pair, tally);
  print(tally);
  return 0;
}

}  // namespace

int main(int count, char** values) {
  if (count < 3) {
    fmt::print(stderr, "usage: bench/agreement [--platform NAME] DIR...\n");
    return 2;
  }
  return run({values + 1, values + count});
}
