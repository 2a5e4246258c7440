// How long one simulated dlopen takes: an extension in its closure, once from the files of an installed environment as
// they are mapped, once from stored facts. Both answers and the memory taken are printed; load_speed.sh puts `ldd -r`
// beside them.
// usage: load_speed mapped PYTHON FILE | load_speed facts FILE REQUIREMENT...
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <sys/resource.h>

#include <fmt/format.h>

#include "framework/answers/matrix_run.h"
#include "framework/environment/fetcher.h"
#include "framework/environment/interpreter.h"
#include "framework/linker/process.h"

namespace {

using namespace compatrix;
using linker::Process;
using Clock = std::chrono::steady_clock;

struct Timing {
  double whole = 0;  // ms: facts, interpreter, torch's libraries and the extension
  double alone = 0;  // ms: the extension, in a process that has torch's libraries
  linker::LoadReport report;
};

double milliseconds(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

std::string torch_module(const std::string& python) {
  std::string digits = python;
  digits.erase(std::remove(digits.begin(), digits.end(), '.'), digits.end());
  return "torch/_C.cpython-" + digits + "-x86_64-linux-gnu.so";
}

Timing open_once(const Environment& environment, const facts::FactStore& store, const std::string& file,
                 std::vector<Want>& wants) {
  const auto begun = Clock::now();
  WheelLibrary wheels{store};
  CellFiles files(environment, wheels);
  linker::Relatives relatives;
  try {
    Process process(files, relatives);
    process.assume_library({.soname = "libcuda.so.1", .symbol_prefix = "cu"});
    process.open("torch/lib/libtorch_global_deps.so", Process::Visibility::global);
    // torch preloads it where it finds libcudart mapped.
    process.open("nvidia/cuda_nvrtc/lib/libnvrtc.so.12", Process::Visibility::local);
    process.open(torch_module(environment.python), Process::Visibility::local);
    const auto imported = Clock::now();
    linker::LoadReport report = process.try_open(file);
    const auto ended = Clock::now();
    return {milliseconds(begun, ended), milliseconds(imported, ended), std::move(report)};
  } catch (const linker::FactsWanted&) {
    wants = files.take_wants();
    return {};
  }
}

// Fetches what is lacking; afterwards everything is at hand.
int make_known(const Environment& environment, Fetcher& fetcher, const facts::FactStore& store,
               const std::string& file) {
  for (std::vector<Want> wants;; wants.clear()) {
    open_once(environment, store, file, wants);
    if (wants.empty()) return 0;
    if (const auto errors = fetcher.fetch(wants); !errors.empty()) {
      fmt::print(stderr, "{}\n", errors.front().text());
      return 1;
    }
  }
}

Result<Environment> locked_environment(const std::vector<std::string>& requirements, Fetcher& fetcher,
                                       const facts::FactStore& store) {
  wheel::LockRequest request;
  request.requirements = requirements;
  const auto lock_path = lock_file(store.folder().parent_path() / "locks", "load_speed", request);
  if (!std::filesystem::exists(lock_path))
    if (const auto locked = wheel::write_lock(request, lock_path); !locked) return locked.error();
  const auto lock = wheel::read_lock(lock_path, request.target);
  if (!lock) return lock.error();
  if (const auto learnt = fetcher.learn(*lock); !learnt) return learnt.error();
  return environment_of(*lock, {}, request.target, find_interpreter(request.target.python));
}

void print(const char* what, const std::vector<Timing>& timings) {
  const auto median = [&](double Timing::*field) {
    std::vector<double> values;
    for (const Timing& timing : timings) values.push_back(timing.*field);
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
  };
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const linker::LoadReport& report = timings.back().report;
  fmt::print(
      "{} {:.3f} {:.3f} {:.1f} {}\n", what, median(&Timing::whole), median(&Timing::alone),
      static_cast<double>(usage.ru_maxrss) / 1024,
      report.problems.empty() ? "loads" : fmt::format("{} problems: {}", report.problems.size(), report.message));
}

int run(const std::vector<std::string>& arguments) {
  constexpr int kRounds = 21;
  const bool mapped = arguments[1] == "mapped";
  const std::string file = mapped ? arguments[3] : arguments[2];
  const facts::FactStore store(facts::default_store_folder());
  Fetcher fetcher(store, {});
  const auto environment = mapped ? installed_environment(arguments[2])
                                  : locked_environment({arguments.begin() + 3, arguments.end()}, fetcher, store);
  if (!environment) {
    fmt::print(stderr, "{}\n", environment.error().text());
    return 1;
  }
  if (make_known(*environment, fetcher, store, file) != 0) return 1;
  std::vector<Timing> timings;
  std::vector<Want> none;
  for (int i = 0; i < kRounds; ++i) timings.push_back(open_once(*environment, store, file, none));
  print(arguments[1].c_str(), timings);
  return 0;
}

}  // namespace

int main(int count, char** values) {
  if (count < 4) {
    fmt::print(stderr, "usage: load_speed mapped PYTHON FILE | load_speed facts FILE REQUIREMENT...\n");
    return 2;
  }
  return run({values, values + count});
}
