#include <fmt/format.h>

#include "framework/checks/run_context.h"
#include "framework/checks/services.h"
#include "framework/environment/interpreter.h"

namespace compatrix {
namespace {

compatrix_load_problem view_of(Arena& arena, const linker::Problem& problem) {
  compatrix_load_problem view{.struct_size = sizeof(compatrix_load_problem),
                              .kind = arena.text(linker::word(problem.kind)),
                              .object = arena.text(problem.object),
                              .library = arena.text(problem.library),
                              .symbol = arena.text(problem.symbol),
                              .demangled = arena.text(problem.demangled),
                              .version = arena.text(problem.version),
                              .expected_in = arena.text(problem.expected_in)};
  std::tie(view.instead, view.instead_count) = arena.list(problem.instead);
  std::tie(view.searched, view.searched_count) = arena.list(problem.searched);
  view.message = arena.text(problem.message);
  view.other_string_abi = arena.text(problem.other_string_abi);
  return view;
}

const compatrix_load* view_of(Arena& arena, const linker::LoadReport& report) {
  auto* problems = arena.keep(std::vector<compatrix_load_problem>());
  for (const linker::Problem& problem : report.problems) problems->push_back(view_of(arena, problem));
  auto* view = arena.keep(compatrix_load{.struct_size = sizeof(compatrix_load),
                                         .outcome = static_cast<compatrix_load_outcome>(report.outcome),
                                         .message = arena.text(report.message),
                                         .problems = problems->data(),
                                         .problem_count = problems->size()});
  std::tie(view->from_system, view->from_system_count) = arena.list(report.from_system);
  std::tie(view->assumed, view->assumed_count) = arena.list(report.assumed);
  return view;
}

compatrix_process* start(compatrix_run* run) {
  std::unique_ptr<linker::Process> process;
  if (!run->with_facts([&] { process = std::make_unique<linker::Process>(*run->files, *run->relatives); }))
    return nullptr;
  if (const auto& platform = run->files->platform())
    run->result.assumptions.push_back(fmt::format(
        "the system is {} ({}), and has nothing else beside its C and C++ runtimes; names that are asked for "
        "without a version are those of this machine's own runtimes; the processor has every instruction",
        platform->name, platform->summary()));
  run->processes.push_back({.run = run, .process = std::move(process)});
  return &run->processes.back();
}

void assume_library(compatrix_process* process, const char* soname, const char* symbol_prefix) {
  process->process->assume_library({soname, symbol_prefix});
}

const compatrix_load* open(compatrix_process* process, const char* path, int flags) {
  linker::LoadReport report;
  const auto visibility =
      (flags & COMPATRIX_OPEN_GLOBAL) != 0 ? linker::Process::Visibility::global : linker::Process::Visibility::local;
  const bool known = process->run->with_facts([&] { report = process->process->open(path, visibility); });
  return known ? view_of(process->run->arena, report) : nullptr;
}

const compatrix_load* try_open(compatrix_process* process, const char* path) {
  linker::LoadReport report;
  const bool known = process->run->with_facts([&] { report = process->process->try_open(path); });
  return known ? view_of(process->run->arena, report) : nullptr;
}

void prepare(compatrix_process* process, const char* const* paths, std::size_t count) {
  // Each attempt tells which facts it lacks; they are fetched together, level by level of the dependency graph.
  process->run->with_facts([&] {
    bool wanted = false;
    for (std::size_t i = 0; i < count; ++i) {
      try {
        static_cast<void>(process->process->map_only(paths[i]));
      } catch (const linker::FactsWanted&) {
        wanted = true;
      }
    }
    if (wanted) throw linker::FactsWanted{};
  });
}

void open_standard_module(compatrix_process* process, const char* module) {
  const Environment& environment = process->run->files->environment();
  if (environment.interpreter.empty()) return;
  std::string version = environment.python;
  version.erase(version.find('.'), 1);
  const auto file = dynload_folder(environment.interpreter, environment.python) /
                    (std::string(module) + ".cpython-" + version + "-" + environment.machine + "-linux-gnu.so");
  if (process->run->files->open(file.string()).state != FileAnswer::State::present) return;
  open(process, file.c_str(), COMPATRIX_OPEN_LOCAL);
}

}  // namespace

const compatrix_linker_1* linker_service() {
  static constexpr compatrix_linker_1 kService{.struct_size = sizeof(compatrix_linker_1),
                                               .start = &start,
                                               .assume_library = &assume_library,
                                               .prepare = &prepare,
                                               .open = &open,
                                               .try_open = &try_open,
                                               .open_standard_module = &open_standard_module};
  return &kService;
}

}  // namespace compatrix
