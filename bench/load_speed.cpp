// How long one simulated dlopen takes, from the files of an installed environment as they are mapped or from stored
// facts. Printed: the source, four times in ms (fewest of all rounds), the most memory in MB, the answer. The times
// are those of the extension in its closure in a fresh process (what `ldd -r` does) from nothing, the same again for a
// further cell of a worker that knows the libraries, after `import torch` from nothing, and of the extension alone
// where torch's libraries are in the process already. load_speed.sh puts `ldd -r` beside them. usage: load_speed mapped
// PYTHON FILE | load_speed facts FILE REQUIREMENT...
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
  double closure = 0;  // ms
  double again = 0;
  double whole = 0;
  double alone = 0;
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

// What a worker keeps from one cell to the next.
struct Known {
  explicit Known(const facts::FactStore& store) : wheels(store) {}
  WheelLibrary wheels;
  linker::Relatives relatives = {};
};

// What a simulated process reads.
struct Sources {
  Sources(const Environment& environment, Known& known)
      : files(environment, known.wheels), relatives(known.relatives) {}
  CellFiles files;
  linker::Relatives& relatives;
};

Process started(Sources& sources) {
  Process process(sources.files, sources.relatives);
  process.assume_library({.soname = "libcuda.so.1", .symbol_prefix = "cu"});
  return process;
}

void import_torch(Process& process, const std::string& python) {
  process.open("torch/lib/libtorch_global_deps.so", Process::Visibility::global);
  // torch preloads it where it finds libcudart mapped.
  process.open("nvidia/cuda_nvrtc/lib/libnvrtc.so.12", Process::Visibility::local);
  process.open(torch_module(python), Process::Visibility::local);
}

Timing open_once(const Environment& environment, const facts::FactStore& store, const std::string& file) {
  Timing timing;
  {
    Known known(store);
    for (double Timing::*field : {&Timing::closure, &Timing::again}) {
      const auto begun = Clock::now();
      Sources sources(environment, known);
      started(sources).try_open(file);
      timing.*field = milliseconds(begun, Clock::now());
    }
  }
  const auto begun = Clock::now();
  Known known(store);
  Sources sources(environment, known);
  Process process = started(sources);
  import_torch(process, environment.python);
  const auto imported = Clock::now();
  timing.report = process.try_open(file);
  const auto ended = Clock::now();
  timing.whole = milliseconds(begun, ended);
  timing.alone = milliseconds(imported, ended);
  return timing;
}

// Fetches what is lacking; afterwards everything is at hand.
int make_known(const Environment& environment, Fetcher& fetcher, const facts::FactStore& store,
               const std::string& file) {
  while (true) {
    Known known(store);
    Sources sources(environment, known);
    try {
      Process process = started(sources);
      import_torch(process, environment.python);
      process.try_open(file);
      return 0;
    } catch (const linker::FactsWanted&) {
      const std::vector<Want> wants = sources.files.take_wants();
      if (const auto errors = fetcher.fetch(wants); !errors.empty()) {
        fmt::print(stderr, "{}\n", errors.front().text());
        return 1;
      }
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

void print(const char* source, const std::vector<Timing>& timings) {
  const auto fewest = [&](double Timing::*field) {
    const auto less = [&](const Timing& a, const Timing& b) { return a.*field < b.*field; };
    return (*std::min_element(timings.begin(), timings.end(), less)).*field;
  };
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const linker::LoadReport& report = timings.back().report;
  fmt::print(
      "{} {:.2f} {:.2f} {:.2f} {:.3f} {:.1f} {}\n", source, fewest(&Timing::closure), fewest(&Timing::again),
      fewest(&Timing::whole), fewest(&Timing::alone), static_cast<double>(usage.ru_maxrss) / 1024,
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
  for (int i = 0; i < kRounds; ++i) timings.push_back(open_once(*environment, store, file));
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
