// Holds the simulated dynamic linker against the real one on random graphs of libraries.
// usage: linker_agreement [--seed N] [--files N] [--seconds N] [--keep FOLDER] [--all]
// Graphs with seeds from N on are built until that many files were opened; each file's outcome and first message must
// be the same, a death a death. A graph with a difference stays below FOLDER, and both answers are printed.
#include <atomic>
#include <chrono>
#include <fstream>
#include <iostream>
#include <thread>

#include <unistd.h>

#include <fmt/format.h>
#include <cxxopts.hpp>

#include "framework/base/subprocess.h"
#include "framework/linker/process.h"
#include "tests/linker_agreement/build.h"

namespace {

using namespace agreement;
using compatrix::linker::LoadReport;
using compatrix::linker::Process;

struct Comparison {
  std::string path;
  std::string real, simulated;
  bool preload = false;
};

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
  return text;
}

std::vector<std::string> library_path(const Graph& graph, const std::filesystem::path& root) {
  std::vector<std::string> folders;
  for (const std::string& folder : graph.library_path) folders.push_back(replaced(folder, "ROOT", root.string()));
  return folders;
}

// One line for each preload, then for each opened file.
std::vector<std::string> real_outcomes(const Graph& graph, const std::filesystem::path& root) {
  const std::filesystem::path output = root / "build/outcomes";
  compatrix::ProgramRun run{.arguments = {LOADER_HOST, root, output}};
  for (const Preload& preload : graph.preloads)
    run.arguments.push_back((preload.global ? "g:" : "l:") + (root / preload.path).string());
  for (const std::string& path : graph.opened) run.arguments.push_back("t:" + (root / path).string());
  std::string joined;
  for (const std::string& folder : library_path(graph, root)) joined += (joined.empty() ? "" : ":") + folder;
  run.environment = {{"LD_LIBRARY_PATH", joined}};
  const auto ran = compatrix::run_program(run);
  if (!ran || ran->exit_code != 0) throw std::runtime_error(ran ? ran->errors : ran.error().text());
  std::ifstream in(output);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string word(const LoadReport& report) {
  if (report.outcome == compatrix::linker::Outcome::loads) return "loads";
  return report.outcome == compatrix::linker::Outcome::kills ? "dies" : report.message;
}

std::vector<std::string> simulated_outcomes(const Graph& graph, const std::filesystem::path& root,
                                            compatrix::WheelLibrary& wheels) {
  compatrix::Environment environment{.interpreter = LOADER_HOST, .site_packages = "/nowhere", .installed = true};
  for (const std::string& folder : library_path(graph, root)) environment.library_path.emplace_back(folder);
  environment.working_folder = root;
  compatrix::linker::Relatives relatives;
  compatrix::CellFiles files(environment, wheels);
  Process process(files, relatives);
  std::vector<std::string> words;
  for (const Preload& preload : graph.preloads)
    words.push_back(word(process.open((root / preload.path).string(),
                                      preload.global ? Process::Visibility::global : Process::Visibility::local)));
  for (const std::string& path : graph.opened) words.push_back(word(process.try_open((root / path).string())));
  return words;
}

std::vector<Comparison> compare(const Graph& graph, const std::filesystem::path& root, Stubs& stubs,
                                compatrix::WheelLibrary& wheels) {
  build(graph, root, stubs);
  const auto real = real_outcomes(graph, root), simulated = simulated_outcomes(graph, root, wheels);
  std::vector<std::string> paths;
  for (const Preload& preload : graph.preloads) paths.push_back(preload.path);
  paths.insert(paths.end(), graph.opened.begin(), graph.opened.end());
  if (real.size() != paths.size()) throw std::runtime_error("the host of the real linker said too little");
  std::vector<Comparison> comparisons;
  for (std::size_t i = 0; i < paths.size(); ++i)
    comparisons.push_back({.path = paths[i],
                           .real = replaced(real[i], root.string() + "/", ""),
                           .simulated = replaced(simulated[i], root.string() + "/", ""),
                           .preload = i < graph.preloads.size()});
  return comparisons;
}

// What kind of answer it is, for the table that shows that the graphs are not all alike.
std::string kind_of(const std::string& outcome) {
  for (const char* phrase :
       {"undefined symbol", "version `", "cannot open shared object file", "static TLS block", "CPU ISA level",
        "wrong ELF class", "DT_RELR without", "file too short", "invalid ELF header", "position-independent executable",
        "cannot dynamically load executable", "no dynamic section", "cannot be dlopen()ed", "cannot read file data"})
    if (outcome.find(phrase) != std::string::npos)
      return std::string(phrase) + (outcome.find(", version ") != std::string::npos ? " with a version" : "");
  return outcome == "loads" || outcome == "dies" ? outcome : "another refusal";
}

struct Tally {
  std::mutex mutex;
  std::size_t files = 0, graphs = 0, differences = 0;
  std::map<std::string, std::size_t> kinds;
};

struct Options {
  std::uint64_t seed = 0;
  std::size_t files = 0;
  std::chrono::seconds limit{};
  std::filesystem::path keep;
  bool all = false;
};

void tell(const Graph& graph, const std::vector<Comparison>& comparisons, const Options& options, Tally& tally) {
  const std::scoped_lock lock(tally.mutex);
  ++tally.graphs;
  for (const Comparison& comparison : comparisons) {
    ++tally.files;
    ++tally.kinds[kind_of(comparison.real)];
    const bool differs = comparison.real != comparison.simulated;
    tally.differences += differs ? 1 : 0;
    if (differs || options.all)
      fmt::print("seed {} {}{}\n  real      {}\n  simulated {}\n", graph.seed, comparison.path,
                 comparison.preload ? " (preloaded)" : "", comparison.real, comparison.simulated);
  }
}

void work(const Options& options, Stubs& stubs, std::atomic<std::uint64_t>& next, Tally& tally,
          std::atomic<bool>& failed) {
  const auto begun = std::chrono::steady_clock::now();
  const auto enough = [&] {
    const std::scoped_lock lock(tally.mutex);
    return failed || tally.files >= options.files || std::chrono::steady_clock::now() - begun > options.limit;
  };
  while (!enough()) {
    const Graph graph = make_graph(next++);
    const std::filesystem::path root = options.keep / std::to_string(graph.seed);
    std::filesystem::remove_all(root);
    try {
      compatrix::WheelLibrary wheels{compatrix::facts::FactStore(options.keep / "facts")};
      const auto comparisons = compare(graph, root, stubs, wheels);
      tell(graph, comparisons, options, tally);
      const bool alike =
          std::all_of(comparisons.begin(), comparisons.end(), [](const auto& c) { return c.real == c.simulated; });
      if (alike && !options.all) std::filesystem::remove_all(root);
    } catch (const std::exception& failure) {
      const std::scoped_lock lock(tally.mutex);
      fmt::print(stderr, "seed {}: {}\n", graph.seed, failure.what());
      failed = true;
    }
  }
}

int run(const Options& options) {
  std::filesystem::create_directories(options.keep / "stubs");
  Stubs stubs(options.keep / "stubs");
  std::atomic<std::uint64_t> next = options.seed;
  std::atomic<bool> failed = false;
  Tally tally;
  std::vector<std::thread> workers;
  for (int i = 0; i < 2; ++i) workers.emplace_back([&] { work(options, stubs, next, tally, failed); });
  for (std::thread& worker : workers) worker.join();
  for (const auto& [kind, count] : tally.kinds) fmt::print("{:>7} {}\n", count, kind);
  fmt::print("seeds {} to {}: {} graphs, {} files, {} differ\n", options.seed, next - 1, tally.graphs, tally.files,
             tally.differences);
  if (tally.differences == 0 && !failed)
    std::filesystem::remove_all(options.keep);
  else
    fmt::print("graphs that differ are kept in {}\n", options.keep.string());
  return tally.differences == 0 && !failed && tally.files >= options.files ? 0 : 1;
}

}  // namespace

int main(int count, char** values) {
  cxxopts::Options described("linker_agreement", "holds the simulated dynamic linker against the real one");
  described.add_options()("seed", "of the first graph", cxxopts::value<std::uint64_t>())(
      "files", "how many to open", cxxopts::value<std::size_t>()->default_value("300"))(
      "seconds", "at most", cxxopts::value<int>()->default_value("3600"))(
      "keep", "folder for the graphs", cxxopts::value<std::string>())("all", "print every outcome, keep every graph");
  const auto given = described.parse(count, values);
  Options options{.seed = given.count("seed") != 0 ? given["seed"].as<std::uint64_t>()
                                                   : static_cast<std::uint64_t>(::getpid()) * 100000 + 1,
                  .files = given["files"].as<std::size_t>(),
                  .limit = std::chrono::seconds(given["seconds"].as<int>()),
                  .keep = given.count("keep") != 0 ? std::filesystem::path(given["keep"].as<std::string>())
                                                   : (std::filesystem::temp_directory_path() /
                                                      fmt::format("linker-agreement-{}", ::getpid())),
                  .all = given.count("all") != 0};
  options.keep = std::filesystem::absolute(options.keep);
  return run(options);
}
