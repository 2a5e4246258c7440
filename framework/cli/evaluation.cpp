#include "framework/cli/evaluation.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <ctime>
#include <map>
#include <mutex>
#include <thread>

#include <unistd.h>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "framework/answers/matrix_run.h"
#include "framework/base/text.h"
#include "framework/cli/progress.h"
#include "reports/journal.h"

namespace compatrix::cli {
namespace {

std::atomic<int> caught_signal{0};  // only a handler can set it, so it can live nowhere else

void on_signal(int signal) {
  if (caught_signal.exchange(signal) != 0) ::_exit(128 + signal);  // asked twice: at once
}

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = &on_signal;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

std::string today() {
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
}

// A result held against what the matrix expects of it.
ReportedResult reported(const Matrix& matrix, const Cell& cell, const CheckResult& result) {
  ReportedResult reported{.result = result};
  const Expectation* expectation = expectation_for(matrix, cell, result.check);
  if (expectation == nullptr) return reported;
  reported.expectation_reason =
      expectation->reason + (expectation->issue.empty() ? "" : " (" + expectation->issue + ")");
  const bool same = result.status == expectation->status && (!expectation->cause || result.cause == expectation->cause);
  const auto named = [](Status status, const std::optional<Cause>& cause) {
    return cause ? fmt::format("{} ({})", word(status), word(*cause)) : std::string(word(status));
  };
  if (!same)
    reported.broken_expectation = fmt::format("line {} expects {}, the answer is {}: {}", expectation->line,
                                              named(expectation->status, expectation->cause),
                                              named(result.status, result.cause), expectation->reason);
  else if (expectation->until && *expectation->until < today())
    reported.broken_expectation =
        fmt::format("line {}: this was expected until {} only", expectation->line, *expectation->until);
  reported.expected = reported.broken_expectation.empty();
  return reported;
}

Report planned_report(const EvaluationRequest& request, const std::vector<Cell>& cells) {
  Report report{.name = request.matrix.name,
                .tool_version = COMPATRIX_VERSION,
                .started = fmt::format("{:%Y-%m-%dT%H:%M:%S}", fmt::gmtime(std::time(nullptr))),
                .host = host_name(),
                .cells = {}};
  for (const Cell& cell : cells) {
    ReportedCell planned{
        .id = cell.id(), .axes = cell.axes, .excluded = cell.excluded.value_or(""), .error = {}, .results = {}};
    for (const CheckRequest& check : request.matrix.checks) planned.results.push_back({.result = {.check = check.id}});
    report.cells.push_back(std::move(planned));
  }
  return report;
}

std::string progress_text(const Fetcher& fetcher, int done, std::size_t total) {
  const FetchProgress progress = fetcher.progress();
  std::string text = fmt::format("{} of {} answers", done, total);
  if (progress.open > 0)
    text += fmt::format(", reading {} of {} ({} travelled), {} open, now {}", byte_count(progress.done),
                        byte_count(progress.expected), byte_count(progress.received), progress.open,
                        visible_utf8(progress.current));
  return text;
}

}  // namespace

int default_workers() {
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

Result<Report> evaluate(const EvaluationRequest& request) {
  const PluginCatalogue catalogue = find_plugins(plugin_folders());
  const auto plugins = plugins_for(request.matrix, catalogue);
  if (!plugins) return plugins.error();
  const std::vector<Cell> cells = expand(request.matrix);
  auto journal = Journal::create(request.journal);
  if (!journal) return journal.error();
  const auto begun = std::chrono::steady_clock::now();
  if (const auto written = journal->begin(planned_report(request, cells)); !written) return written.error();

  catch_signals();
  std::error_code failure;
  const std::filesystem::path store = facts::default_store_folder();
  Fetcher fetcher(facts::FactStore(store), {.offline = request.offline});
  std::atomic<int> done{0};
  std::mutex writing;
  std::optional<Error> unwritten;
  const auto write = [&](const Result<Done>& written) {
    if (!written && !unwritten) unwritten = written.error();
  };
  const RunOptions options{.store = store,
                           .locks = request.locks,
                           .program = std::filesystem::read_symlink("/proc/self/exe", failure),
                           .refresh = request.refresh,
                           .offline = request.offline,
                           .workers = request.workers,
                           .interrupted = [&] { return caught_signal != 0 || unwritten.has_value(); }};
  const RunEvents events{.environment =
                             [&](const Cell& cell, const std::string& environment, const std::string& error) {
                               const std::lock_guard guard(writing);
                               write(journal->environment(cell.id(), environment, error));
                             },
                         .result =
                             [&](const Cell& cell, const CheckResult& result) {
                               const std::lock_guard guard(writing);
                               ++done;
                               write(journal->result(cell.id(), reported(request.matrix, cell, result)));
                             }};
  {
    const ProgressLine line([&] { return progress_text(fetcher, done, cells.size() * plugins->size()); });
    run_matrix(request.matrix, cells, *plugins, fetcher, options, events);
  }
  if (unwritten) return *unwritten;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  if (const auto written = journal->end(seconds, caught_signal != 0); !written) return written.error();
  return read_journal(request.journal);
}

int exit_status(const Report& report) {
  const int code = exit_code(report);
  return report.interrupted && caught_signal != 0 ? 128 + caught_signal : code;
}

}  // namespace compatrix::cli
