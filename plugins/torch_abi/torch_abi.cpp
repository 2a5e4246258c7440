// Check torch_abi: does everything that is compiled in the cell's packages load beside the cell's torch?
#include <algorithm>
#include <exception>
#include <string>
#include <vector>

#include "cell.h"
#include "compatrix/note.h"
#include "declared_torch.h"
#include "judgement.h"
#include "known_releases.h"
#include "origins.h"
#include "package_roles.h"
#include "report.h"
#include "torch_import.h"

namespace torch_abi {
namespace {

void conclude_simply(const Cell& cell, compatrix_status status, const std::string& summary) {
  const compatrix_conclusion conclusion{.struct_size = sizeof(compatrix_conclusion),
                                        .status = status,
                                        .basis = COMPATRIX_PREDICTED,
                                        .cause = "",
                                        .summary = summary.c_str()};
  cell.host->conclude(cell.run, &conclusion);
}

// The packages that the cell is about: what it asks for, torch aside.
std::vector<std::size_t> subjects(const Cell& cell, int torch) {
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < cell.environment->distribution_count(cell.run); ++i)
    if (static_cast<int>(i) != torch && cell.environment->distribution(cell.run, i)->requested != 0)
      chosen.push_back(i);
  return chosen;
}

std::string named(const compatrix_distribution& distribution) {
  return std::string(distribution.name) + " " + distribution.version;
}

// A torch that can't be imported itself: nothing can be said of what comes after.
void conclude_broken_torch(const Cell& cell, const compatrix_load& load, const Subject& subject) {
  Judgement judgement;
  judgement.files.push_back(
      {.path = "torch", .outcome = load.outcome, .message = load.message, .first_cause = {}, .uncounted = {}});
  add_problems(judgement, load, "torch");
  apply_origins(cell, judgement);
  report_findings(cell, judgement, {});
  report_remedies(cell, judgement, {subject.torch, subject.torch}, {});
  const std::vector<std::string> causes = judgement.causes();
  const std::string cause = causes.empty() ? "missing-library" : causes.front(),
                    summary = subject.torch + " itself can't be imported: " + load.message;
  const compatrix_conclusion conclusion{.struct_size = sizeof(compatrix_conclusion),
                                        .status = COMPATRIX_FAIL,
                                        .basis = COMPATRIX_PREDICTED,
                                        .cause = cause.c_str(),
                                        .summary = summary.c_str()};
  cell.host->conclude(cell.run, &conclusion);
}

void evaluate(const Cell& cell) {
  const int torch = cell.find("torch");
  if (torch < 0) return conclude_simply(cell, COMPATRIX_SKIP, "there is no torch in this cell");
  Subject subject{.name = {},
                  .torch = named(*cell.environment->distribution(cell.run, static_cast<std::size_t>(torch)))};
  std::vector<Package> packages;
  bool compiled = false;
  for (const std::size_t i : subjects(cell, torch)) {
    const compatrix_distribution& distribution = *cell.environment->distribution(cell.run, i);
    subject.name += (subject.name.empty() ? "" : ", ") + named(distribution);
    packages.push_back({.distribution = i,
                        .files = cell.shared_objects(i),
                        .data = find_package(known_packages(), distribution.name)});
    compiled |= !packages.back().files.empty();
  }

  compatrix_process* process = cell.linker->start(cell.run);
  if (process == nullptr) throw FactsUnavailable{};
  // The driver's library is part of no environment.
  cell.linker->assume_library(process, "libcuda.so.1", "cu");
  if (const compatrix_load* load = import_torch(cell, process)) return conclude_broken_torch(cell, *load, subject);
  if (!compiled)
    return conclude_simply(
        cell, COMPATRIX_PASS,
        subject.name.empty() ? subject.torch + " can be imported" : subject.name + " has no compiled files");

  Judgement judgement = judge(cell, process, packages);
  std::vector<AlternativesOutcome> alternatives;
  for (const Package& package : packages) {
    apply_layout(judgement, examine_layout(cell, package.distribution, package.files), subject.torch);
    apply_interpreter(judgement, package, interpreter_of(cell),
                      named(*cell.environment->distribution(cell.run, package.distribution)));
    for (AlternativesOutcome& outcome : apply_package_data(judgement, package, cuda_of_torch(cell)))
      alternatives.push_back(std::move(outcome));
  }
  apply_origins(cell, judgement);
  const std::vector<ShimUse> uses = shim_uses(cell, judgement);
  report_findings(cell, judgement, uses);
  report_known_releases(cell, judgement, subject.torch);
  for (const Package& package : packages) report_declared_torch(cell, judgement, package);
  report_two_majors(cell, judgement, subject.torch);
  report_assumptions(cell, judgement);
  report_remedies(cell, judgement, subject, uses);
  report_alternatives(cell, alternatives);
  conclude(cell, judgement, subject);
}

int run(const compatrix_host* host, compatrix_run* evaluated) {
  const Cell cell(host, evaluated);
  if (!cell.has_services()) {
    conclude_simply(cell, COMPATRIX_ERROR, "this host lacks the environment, elf or linker service; update compatrix");
    return 0;
  }
  try {
    evaluate(cell);
    return 0;
  } catch (const FactsUnavailable&) {
    return 1;
  } catch (const std::exception& failure) {
    conclude_simply(cell, COMPATRIX_ERROR, failure.what());
    return 0;
  }
}

constexpr compatrix_check kCheck{
    .struct_size = sizeof(compatrix_check),
    .id = "torch_abi",
    .summary = "every compiled file loads beside this torch: libraries, symbol versions, symbols",
    .needs = COMPATRIX_NEEDS_FILES,
    .default_timeout_s = 120,
    .parameters = nullptr,
    .parameter_count = 0,
    .run = &run};
constexpr const compatrix_check* kChecks[] = {&kCheck};

}  // namespace
}  // namespace torch_abi

COMPATRIX_PLUGIN(
    "torch_abi", "0.1.0",
    "check torch_abi|0|120|every compiled file loads beside this torch: libraries, symbol versions, symbols\n",
    torch_abi::kChecks)
