// The worker that the scheduler starts; not for people.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "framework/checks/evaluate.h"
#include "framework/cli/command.h"
#include "framework/scheduler/worker_pool.h"

namespace compatrix::cli {

int worker_command(const Arguments&) {
  Evaluator evaluator;
  return serve_jobs([&](const WorkerRequest& request) {
    const FetchWants fetch = [&](const std::vector<Want>& wants) -> std::optional<std::string> {
      const nlohmann::json answer = request.ask(wants_to_json(wants));
      const auto& errors = answer.at("errors");
      if (errors.empty()) return std::nullopt;
      return errors.front().get<std::string>() +
             (errors.size() > 1 ? fmt::format(" (and {} more)", errors.size() - 1) : "");
    };
    return evaluator.evaluate(request.plugin, request.check, request.request, fetch);
  });
}

}  // namespace compatrix::cli
