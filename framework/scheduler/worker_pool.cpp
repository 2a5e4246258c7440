#include "framework/scheduler/worker_pool.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "framework/base/text.h"
#include "framework/checks/result_json.h"
#include "framework/scheduler/worker_process.h"

namespace compatrix {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLook{100};  // how often interruption is looked for
constexpr int kQuotedOutput = 2000;

CheckResult without_answer(const Job& job, Status status, const std::string& summary) {
  return {.check = job.check, .status = status, .summary = summary};
}

// One worker slot: takes jobs until there are none, with a worker that is replaced when it dies.
class Slot {
 public:
  Slot(const WorkerPoolOptions& options, const FactBroker& broker) : options_(options), broker_(broker) {}

  CheckResult run(const Job& job, std::size_t number) {
    const auto begun = Clock::now();
    CheckResult result = [&] {
      try {
        return answer_of(job, number);
      } catch (const std::exception& failure) {  // such as a path that is not UTF-8 and so can't be JSON
        worker_.reset();
        return without_answer(job, Status::error,
                              std::string("can't be asked of a worker: ") + visible_utf8(failure.what()));
      }
    }();
    result.duration_s = std::chrono::duration<double>(Clock::now() - begun).count();
    return result;
  }

 private:
  CheckResult answer_of(const Job& job, std::size_t number) {
    if (!worker_) {
      auto started = WorkerProcess::start(options_.program);
      if (!started) return without_answer(job, Status::error, started.error().text());
      worker_.emplace(std::move(*started));
    }
    const Json frame{{"type", "job"},
                     {"job", number},
                     {"check", job.check},
                     {"plugin", job.plugin.string()},
                     {"request", job.request}};
    return send_frame(worker_->socket(), frame.dump()) ? converse(job, number) : died(job);
  }

  // Listens until the end marker; the time in which the worker waits for facts does not count.
  CheckResult converse(const Job& job, std::size_t number) {
    std::optional<CheckResult> result;
    std::chrono::milliseconds left = job.timeout;
    for (;;) {
      const auto waited_from = Clock::now();
      const auto frame = worker_->frames().take();
      const auto event =
          frame ? WorkerProcess::Event::frame : worker_->wait(static_cast<int>(std::min(left, kLook).count()));
      left -= std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - waited_from);
      if (event == WorkerProcess::Event::closed) return died(job);
      if (event == WorkerProcess::Event::garbage) return ended(job, Status::crash, "the worker sent what is no frame");
      if (event == WorkerProcess::Event::silence) {
        if (options_.interrupted()) return ended(job, Status::error, "not run to its end: the run was interrupted");
        if (left.count() <= 0)
          return ended(job, Status::timeout, fmt::format("no answer within {} s", job.timeout.count() / 1000.0));
      }
      if (!frame) continue;
      try {
        const Json said = Json::parse(*frame);
        const auto type = said.at("type").get<std::string>();
        if (type == "ask") {
          const auto facts = facts_frame(said.at("wanted"));
          if (!facts) return ended(job, Status::error, facts.error().text());
          if (!send_frame(worker_->socket(), *facts)) return died(job);
        } else if (type == "result" && said.at("job") == number) {
          result = result_from_json(said.at("result"));
        } else if (type == "end" && said.at("job") == number && result) {
          result->check = job.check;
          return *result;
        } else {
          return ended(job, Status::crash, "the worker answered out of turn");
        }
      } catch (const std::exception& failure) {
        return ended(job, Status::crash,
                     std::string("the worker sent what is no answer: ") + visible_utf8(failure.what()));
      }
    }
  }

  Result<std::string> facts_frame(const Json& wanted) try {
    const nlohmann::json facts = broker_(nlohmann::json::parse(wanted.dump()));
    return Json{{"type", "facts"}, {"facts", facts}}.dump();
  } catch (const std::exception& failure) {
    return Error{"facts that the check asked for can't be had", visible_utf8(failure.what())};
  }

  CheckResult died(const Job& job) {
    const std::string how = worker_->end();
    return told(without_answer(job, Status::crash, fmt::format("the worker died without an answer ({})", how)));
  }

  CheckResult ended(const Job& job, Status status, const std::string& why) {
    worker_->end();
    return told(without_answer(job, status, why));
  }

  // The last words of a worker are evidence.
  CheckResult told(CheckResult result) {
    std::string printed = worker_->printed();
    if (printed.size() > kQuotedOutput) printed.erase(0, printed.size() - kQuotedOutput);
    result.findings.push_back({.cause = {},
                               .kind = "worker-ended",
                               .file = {},
                               .message = result.summary,
                               .fields = {{"printed", visible_utf8(printed)}}});
    worker_.reset();
    return result;
  }

  const WorkerPoolOptions& options_;
  const FactBroker& broker_;
  std::optional<WorkerProcess> worker_;
};

}  // namespace

void run_jobs(std::span<const Job> jobs, const WorkerPoolOptions& options, const FactBroker& broker,
              const JobDone& done) {
  std::atomic<std::size_t> next{0};
  std::mutex telling;
  std::vector<std::thread> threads;
  const auto count = std::min<std::size_t>(static_cast<std::size_t>(std::max(1, options.workers)), jobs.size());
  for (std::size_t i = 0; i < count; ++i)
    threads.emplace_back([&] {
      Slot slot(options, broker);
      for (std::size_t number = next++; number < jobs.size() && !options.interrupted(); number = next++) {
        const CheckResult result = slot.run(jobs[number], number);
        const std::lock_guard guard(telling);
        done(jobs[number], result);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace compatrix
