#include "framework/answers/matrix_run.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "framework/base/version.h"
#include "framework/bytes/digest.h"
#include "framework/checks/evaluate.h"
#include "framework/environment/environment.h"
#include "framework/environment/interpreter.h"
#include "framework/environment/platform.h"
#include "framework/scheduler/worker_pool.h"
#include "framework/wheel/dist_info.h"

namespace compatrix {
namespace {

constexpr int kLocksAtOnce = 4;
constexpr const char* kDefaultPython = "3.11";

std::string digest_of(const std::string& text) {
  Sha256 digest;
  digest.update(std::as_bytes(std::span(text)));
  return digest.hex();
}

// Project names of the requirements, as distributions are called.
std::vector<std::string> requested_projects(const std::vector<std::string>& requirements) {
  std::vector<std::string> projects;
  for (const std::string& text : requirements) {
    if (text.ends_with(".whl")) {
      if (const auto name = wheel::parse_wheel_name(std::filesystem::path(text).filename().string()))
        projects.push_back(wheel::normalise_project(name->project));
    } else if (const auto requirement = wheel::parse_requirement(text)) {
      projects.push_back(requirement->project);
    }
  }
  return projects;
}

// From a cell to its environment, by way of its lock.
class CellMaker {
 public:
  CellMaker(const Matrix& matrix, Fetcher& fetcher, const RunOptions& options)
      : matrix_(matrix), fetcher_(fetcher), options_(options) {}

  Result<Environment> make(const Cell& cell) {
    if (matrix_.environment.provider == "prefix") return installed(cell);
    auto request = request_for(cell);
    if (!request) return request.error();
    const auto file = lock_file(options_.locks, cell.id(), *request);
    if (options_.refresh || !std::filesystem::exists(file)) {
      if (options_.offline)
        return Error{cell.id(), "is not locked yet and --offline forbids asking the index; run once without --offline"};
      if (const auto locked = wheel::write_lock(*request, file); !locked) return locked.error();
    }
    const auto lock = wheel::read_lock(file, request->target);
    if (!lock) return lock.error();
    if (const auto learnt = fetcher_.learn(*lock); !learnt) return learnt.error();
    return environment_of(*lock, requested_projects(request->requirements), request->target,
                          interpreter(request->target.python));
  }

 private:
  Result<wheel::LockRequest> request_for(const Cell& cell) {
    wheel::LockRequest request;
    request.requirements = requirements_of(matrix_, cell);
    for (std::string& requirement : request.requirements) {
      if (!wheel::is_local_wheel(requirement)) continue;
      requirement = std::filesystem::absolute(matrix_.file.parent_path() / requirement).lexically_normal();
      if (!std::filesystem::is_regular_file(requirement)) continue;  // locking says so
      auto digest = fetcher_.learn_local(requirement);
      if (!digest) return digest.error();
      request.digests.emplace(requirement, std::move(*digest));
    }
    for (const std::string& folder : matrix_.environment.find_links)
      request.find_links.push_back(std::filesystem::absolute(matrix_.file.parent_path() / folder));
    auto index = index_of(matrix_, cell);
    if (!index) return index.error();
    request.index = *index;
    request.target.python = cell.value("python").value_or(kDefaultPython);
    if (const auto name = cell.value("platform")) {
      const auto platform = platform_named(*name);
      if (!platform) return platform.error();
      request.target.platform = platform->name;
      request.target.machine = platform->machine;
      request.target.glibc = platform->glibc;
    }
    return request;
  }

  Result<Environment> installed(const Cell& cell) const {
    auto environment = installed_environment(matrix_.environment.python);
    if (!environment) return environment.error();
    for (Distribution& distribution : environment->distributions) distribution.requested = false;
    for (const std::string& text : requirements_of(matrix_, cell))
      if (auto fault = mark_requested(*environment, text)) return Error{environment->site_packages.string(), *fault};
    return environment;
  }

  // A cell is judged only by what it asks for: why the environment does not have it, or nothing.
  static std::optional<std::string> mark_requested(Environment& environment, const std::string& text) {
    const auto requirement = wheel::parse_requirement(text);
    if (!requirement) return requirement.error().text();
    const auto specifiers = SpecifierSet::parse(requirement->specifiers);
    if (!specifiers) return specifiers.error().text();
    for (Distribution& distribution : environment.distributions) {
      if (distribution.name != requirement->project) continue;
      const auto version = Version::parse(distribution.version);
      if (version && !specifiers->contains(*version))
        return fmt::format("has {} {}, the cell asks for {}", distribution.name, distribution.version, text);
      distribution.requested = true;
      return std::nullopt;
    }
    return requirement->project + " is not installed here";
  }

  std::filesystem::path interpreter(const std::string& version) {
    const std::lock_guard guard(mutex_);
    const auto known = interpreters_.find(version);
    if (known != interpreters_.end()) return known->second;
    auto found = find_interpreter(version);
    // Kept for machines that share this store and have no such interpreter; without it the answer is the same.
    if (!found.empty())
      static_cast<void>(keep_interpreter_facts(facts::FactStore(options_.store), found, version, kThisMachine));
    return interpreters_.emplace(version, std::move(found)).first->second;
  }

  const Matrix& matrix_;
  Fetcher& fetcher_;
  const RunOptions& options_;
  std::mutex mutex_;
  std::map<std::string, std::filesystem::path> interpreters_;
};

// Calls `act` for each index, several at once.
template <class Act>
void in_parallel(std::size_t count, int threads, const Act& act) {
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i)
    running.emplace_back([&] {
      for (std::size_t at = next++; at < count; at = next++) act(at);
    });
  for (std::thread& thread : running) thread.join();
}

nlohmann::json answer_wants(Fetcher& fetcher, const nlohmann::json& wanted) {
  auto errors = nlohmann::json::array();
  for (const Error& error : fetcher.fetch(wants_from_json(wanted))) errors.push_back(error.text());
  return {{"errors", std::move(errors)}};
}

std::string known_checks(const PluginCatalogue& catalogue) {
  std::string names;
  for (const PluginFile& plugin : catalogue.plugins)
    for (const auto& check : plugin.note.checks) names += (names.empty() ? "" : ", ") + check.id;
  return names.empty() ? "none were found" : names;
}

}  // namespace

std::filesystem::path lock_file(const std::filesystem::path& folder, const std::string& cell_id,
                                const wheel::LockRequest& request) {
  std::string asked = request.target.python + "\n" + request.target.machine + "\n" + request.target.glibc + "\n" +
                      request.index.value_or("");
  for (const std::string& requirement : request.requirements) asked += "\n" + requirement;
  for (const auto& links : request.find_links) asked += "\n" + links.string();
  for (const auto& [path, digest] : request.digests) asked += "\n" + digest;  // a wheel that was built anew
  std::string stem = cell_id.substr(0, 120);
  for (char& c : stem)
    if (!std::isalnum(static_cast<unsigned char>(c)) && std::string_view("._=,+-").find(c) == std::string_view::npos)
      c = '_';
  return folder / fmt::format("{}-{}.toml", stem.empty() ? "cell" : stem, digest_of(asked).substr(0, 8));
}

Result<std::vector<const PluginFile*>> plugins_for(const Matrix& matrix, const PluginCatalogue& catalogue) {
  std::vector<const PluginFile*> plugins;
  for (const CheckRequest& check : matrix.checks) {
    const PluginFile* plugin = catalogue.with_check(check.id);
    if (plugin == nullptr) {
      std::string why = fmt::format("no plugin has a check of this name (known: {})", known_checks(catalogue));
      for (const Error& refused : catalogue.refused) why += "; refused: " + refused.text();
      return Error{check.id, why};
    }
    plugins.push_back(plugin);
  }
  return plugins;
}

void run_matrix(const Matrix& matrix, const std::vector<Cell>& cells, const std::vector<const PluginFile*>& plugins,
                Fetcher& fetcher, const RunOptions& options, const RunEvents& events) {
  CellMaker maker(matrix, fetcher, options);
  std::vector<std::optional<Environment>> environments(cells.size());
  std::mutex telling;
  in_parallel(cells.size(), kLocksAtOnce, [&](std::size_t i) {
    if (cells[i].excluded || options.interrupted()) return;
    auto environment = maker.make(cells[i]);
    const std::lock_guard guard(telling);
    if (environment) environments[i] = *environment;
    events.environment(cells[i], environment ? to_json(*environment).dump() : "{}",
                       environment ? "" : environment.error().text());
  });

  std::vector<Job> jobs;
  std::map<std::string, std::size_t> position;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (!environments[i]) continue;
    position.emplace(cells[i].id(), i);
    for (std::size_t c = 0; c < plugins.size(); ++c) {
      const CheckRequest& check = matrix.checks[c];
      CheckQuestion question{.environment = *environments[i],
                             .parameters = {check.parameters.begin(), check.parameters.end()}};
      Job job{.cell = cells[i].id(),
              .check = check.id,
              .plugin = plugins[c]->path,
              .request = encode_question(question, options.store)};
      for (const auto& noted : plugins[c]->note.checks)
        if (noted.id == check.id && noted.default_timeout_s != 0)
          job.timeout = std::chrono::seconds(noted.default_timeout_s);
      jobs.push_back(std::move(job));
    }
  }
  run_jobs(
      jobs, {.workers = options.workers, .program = options.program, .interrupted = options.interrupted},
      [&](const nlohmann::json& wanted) { return answer_wants(fetcher, wanted); },
      [&](const Job& job, const CheckResult& result) { events.result(cells[position.at(job.cell)], result); });
}

}  // namespace compatrix
