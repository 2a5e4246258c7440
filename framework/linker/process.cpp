#include "framework/linker/process.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace compatrix::linker {
namespace {

std::string folder_of(const std::string& path) {
  if (path.empty()) return "";
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

const char* loader_path(std::uint16_t machine) {
  return machine == elf::EM_AARCH64 ? "/lib/ld-linux-aarch64.so.1" : "/lib64/ld-linux-x86-64.so.2";
}

}  // namespace

std::string_view word(ProblemKind kind) {
  switch (kind) {
    case ProblemKind::library_not_found:
      return "library-not-found";
    case ProblemKind::bad_file:
      return "bad-file";
    case ProblemKind::version_not_found:
      return "version-not-found";
    case ProblemKind::undefined_symbol:
      return "undefined-symbol";
    case ProblemKind::isa_level:
      return "isa-level";
    case ProblemKind::static_tls:
      return "static-tls";
  }
  return "";
}

bool LoadedObject::is_called(std::string_view name) const {
  return path == name || std::find(names.begin(), names.end(), name) != names.end();
}

Process::Process(CellFiles& files, Relatives& relatives)
    : files_(files),
      relatives_(relatives),
      site_prefix_(files.environment().site_packages.string() + "/"),
      machine_(files.environment().machine == "aarch64" ? elf::EM_AARCH64 : elf::EM_X86_64),
      capabilities_(capabilities_of(machine_, files.environment().processor)) {
  if (files_.platform()) assume_platform();
  start();
}

void Process::assume_platform() {
  for (const PlatformLibrary& library : files_.platform()->libraries)
    assumed_.push_back({.soname = library.soname,
                        .symbol_prefix = {},
                        .of_platform = library,
                        .names = files_.library_of_this_machine(library.soname)});
}

void Process::start() {
  LoadedObject executable{.executable = true};
  const std::string interpreter = files_.environment().interpreter.string();
  executable.elf = interpreter.empty() ? files_.kept_interpreter() : files_.open(interpreter).elf;
  executable.origin = folder_of(interpreter);
  if (!executable.elf) executable.assumed = AssumedLibrary{"the interpreter", "Py"};
  state_.objects.push_back(std::move(executable));
  const std::string loader = loader_path(machine_);
  if (FileAnswer file = files_.open(loader); file.elf)
    state_.objects.push_back({.elf = file.elf,
                              .path = loader,
                              .names = {loader.substr(loader.rfind('/') + 1)},
                              .identity = file.identity,
                              .origin = folder_of(loader),
                              .from_system = true});
  const std::vector<int> closure = map_needed(0);
  finish_mapping(0, closure);
  for (const int object : closure) {
    LoadedObject& started = state_.objects[static_cast<std::size_t>(object)];
    started.global = started.relocated = started.versions_checked = true;
  }
  state_.global_scope = closure;
  std::vector<const elf::Segment*> blocks;
  for (LoadedObject& object : state_.objects) {
    object.in_static_tls = true;
    if (object.elf) blocks.push_back(object.elf->thread_local_segment());
  }
  state_.static_tls = StaticTlsBlock(machine_, blocks);
  started_ = true;
}

LoadReport Process::open(const std::string& path, Visibility visibility) {
  const State before = state_;
  LoadReport report = load(path, visibility);
  if (report.outcome != Outcome::loads) state_ = before;
  return report;
}

LoadReport Process::try_open(const std::string& path) {
  const State before = state_;
  LoadReport report = load(path, Visibility::local);
  state_ = before;
  return report;
}

void Process::map_only(const std::string& path) {
  const State before = state_;
  std::vector<int> closure;
  map_closure(path, closure);
  state_ = before;
}

// Maps the object and, breadth first, everything that it needs. The closure is empty where it was open already.
std::optional<int> Process::map_closure(const std::string& path, std::vector<int>& closure) {
  const State before = state_;
  report_ = {};
  missing_.clear();
  facts_wanted_ = false;
  const std::optional<int> root = map_object(path.starts_with('/') ? path : site_prefix_ + path, -1);
  if (root && state_.objects[static_cast<std::size_t>(*root)].scope.empty()) {
    closure = map_needed(*root);
    finish_mapping(*root, closure);
  }
  if (facts_wanted_) {
    state_ = before;
    throw FactsWanted{};
  }
  return root;
}

// Versions, processor and symbols of what is new.
void Process::bind(int root, const std::vector<int>& closure) {
  // Version needs are held against their providers before any symbol is looked up.
  for (const int object : closure) check_versions(object);
  const std::vector<int> order =
      closure.empty() ? std::vector<int>{} : state_.objects[static_cast<std::size_t>(root)].init_order;
  for (auto object = order.rbegin(); object != order.rend(); ++object) check_isa_level(*object);
  // Dependencies first.
  for (auto object = order.rbegin(); object != order.rend(); ++object) relocate(*object, root);
}

// One dlopen, from the path to the last relocation.
LoadReport Process::load(const std::string& path, Visibility visibility) {
  const std::size_t already = state_.objects.size();
  std::vector<int> closure;
  const std::optional<int> root = map_closure(path, closure);
  if (!root) return std::exchange(report_, {});

  try {
    bind(*root, closure);
  } catch (const FormatError& defect) {
    // Tables that lead out of the file: the loader would follow them out of the mapping.
    report({.kind = ProblemKind::bad_file,
            .object = name_of(*root),
            .message = fmt::format("{}: {}; the process dies when it is relocated", name_of(*root), defect.what())},
           Outcome::kills);
  }

  if (visibility == Visibility::global)
    for (const int object : state_.objects[static_cast<std::size_t>(*root)].scope)
      if (!std::exchange(state_.objects[static_cast<std::size_t>(object)].global, true))
        state_.global_scope.push_back(object);

  for (std::size_t i = already; i < state_.objects.size(); ++i) {
    const LoadedObject& object = state_.objects[i];
    if (object.from_system) report_.from_system.push_back(object.path);
    if (object.assumed && !object.assumed->of_platform) report_.assumed.push_back(object.assumed->soname);
  }
  return std::exchange(report_, {});
}

std::optional<int> Process::assume(const std::string& name, int loader) {
  for (const AssumedLibrary& library : assumed_)
    if (library.soname == name) {
      state_.objects.push_back({.path = library.of_platform ? files_.platform()->folder + name : name,
                                .names = {name},
                                .identity = "assumed/" + name,
                                .loader = loader,
                                .assumed = library});
      return static_cast<int>(state_.objects.size()) - 1;
    }
  return std::nullopt;
}

std::optional<int> Process::map_object(const std::string& name, int loader) {
  // An object that is already there under this name or soname needs no search.
  for (std::size_t i = 0; i < state_.objects.size(); ++i) {
    LoadedObject& object = state_.objects[i];
    if (object.is_called(name)) return static_cast<int>(i);
    if (object.soname_matched || !object.elf || object.elf->soname() != std::string_view(name)) continue;
    object.names.push_back(name);
    object.soname_matched = true;
    return static_cast<int>(i);
  }
  std::optional<Found> found = search(name, loader);
  if (!found) return assume(name, loader);
  for (std::size_t i = 0; i < state_.objects.size(); ++i)
    if (state_.objects[i].identity == found->file.identity) {
      state_.objects[i].names.push_back(name);
      return static_cast<int>(i);
    }
  facts_wanted_ |= found->file.state == FileAnswer::State::wanted;
  if (found->file.state == FileAnswer::State::present && !map_file(name, *found)) return std::nullopt;
  state_.objects.push_back({.elf = found->file.elf,
                            .path = found->path,
                            .names = {name},
                            .identity = found->file.identity,
                            .origin = folder_of(absolute(found->path)),
                            .loader = loader,
                            .from_system = found->file.from_system});
  return static_cast<int>(state_.objects.size()) - 1;
}

// Whether the chosen file can become an object of the process.
bool Process::map_file(const std::string& name, const Found& found) {
  const elf::Acceptance& acceptance = found.file.acceptance;
  const std::uint64_t flags = found.file.elf ? found.file.elf->flags_1() : 0;
  if (!acceptance.mapping_refusal.empty()) {
    refuse(name, name, acceptance.mapping_refusal);
  } else if (found.file.elf && elf::dies_when_mapped(found.file.elf->tables())) {
    report({.kind = ProblemKind::bad_file,
            .object = displayed(found.path),
            .library = name,
            .message = fmt::format("{}: {}", displayed(found.path),
                                   found.file.elf->truncated()
                                       ? "the file is shorter than its segments; the process dies of SIGBUS"
                                       : "its dynamic section is incomplete; the process dies of it")},
           Outcome::kills);
  } else if (!found.file.elf) {
    refuse(name, found.path, found.file.defect);
  } else if ((flags & elf::DF_1_PIE) != 0) {
    refuse(name, name, "cannot dynamically load position-independent executable");
  } else if ((flags & elf::DF_1_NOOPEN) != 0 && started_) {
    refuse(name, name, "shared object cannot be dlopen()ed");
  } else {
    return true;
  }
  return false;
}

std::string Process::absolute(const std::string& path) const {
  return path.starts_with('/') ? path : (files_.environment().working_folder / path).string();
}

std::vector<int> Process::map_needed(int root) {
  std::vector<int> closure{root};
  for (std::size_t at = 0; at < closure.size(); ++at) {
    const int current = closure[at];
    // The objects' vector grows below: hold the file, not the object.
    const std::shared_ptr<const elf::ElfFile> elf = state_.objects[static_cast<std::size_t>(current)].elf;
    if (!elf) continue;
    const LoadedObject& object = state_.objects[static_cast<std::size_t>(current)];
    const bool first_time =
        current != root && object.init_order.empty() && object.scope.empty() && !elf->needed().empty();
    std::vector<int> needed{current};
    const std::string origin = object.origin;
    for (const std::string_view name : elf->needed()) {
      const std::optional<int> dependency = map_object(expand_tokens(name, origin, capabilities_), current);
      if (!dependency) continue;
      if (std::find(closure.begin(), closure.end(), *dependency) == closure.end()) closure.push_back(*dependency);
      needed.push_back(*dependency);
    }
    if (first_time) state_.objects[static_cast<std::size_t>(current)].init_order = std::move(needed);
  }
  return closure;
}

// Dependencies first from the end: depth-first post-order, reversed, the root forced to the front (elf/dl-sort-maps.c).
std::vector<int> Process::sort_for_relocation(const std::vector<int>& objects) {
  std::vector<bool> visited(state_.objects.size(), false);
  std::vector<int> order;
  struct Frame {
    int object;
    std::size_t next;
  };
  const auto visit = [&](int start) {
    std::vector<Frame> stack;
    if (visited[static_cast<std::size_t>(start)]) return;
    visited[static_cast<std::size_t>(start)] = true;
    stack.push_back({start, 0});
    while (!stack.empty()) {
      Frame& frame = stack.back();
      const std::vector<int>& needed = state_.objects[static_cast<std::size_t>(frame.object)].init_order;
      if (frame.next == needed.size()) {
        order.push_back(frame.object);
        stack.pop_back();
        continue;
      }
      const int dependency = needed[frame.next++];
      if (visited[static_cast<std::size_t>(dependency)] ||
          state_.objects[static_cast<std::size_t>(dependency)].executable)
        continue;
      visited[static_cast<std::size_t>(dependency)] = true;
      stack.push_back({dependency, 0});
    }
  };
  for (auto object = objects.rbegin(); object != objects.rend() && order.size() < objects.size(); ++object)
    visit(*object);
  std::reverse(order.begin(), order.end());
  if (order.front() != objects.front()) {
    order.erase(std::find(order.begin(), order.end(), objects.front()));
    order.insert(order.begin(), objects.front());
  }
  return order;
}

void Process::finish_mapping(int root, const std::vector<int>& closure) {
  LoadedObject& object = state_.objects[static_cast<std::size_t>(root)];
  object.scope = closure;
  object.init_order.clear();
  std::vector<int> order = sort_for_relocation(closure);
  state_.objects[static_cast<std::size_t>(root)].init_order = std::move(order);
}

void Process::report(Problem problem, Outcome outcome) {
  if (report_.problems.empty()) {
    report_.outcome = outcome;
    report_.message = problem.message;
  }
  report_.problems.push_back(std::move(problem));
}

std::string Process::displayed(const std::string& path) const {
  return path.starts_with(site_prefix_) ? path.substr(site_prefix_.size()) : path;
}

std::string Process::name_of(int object) const {
  const LoadedObject& named = state_.objects[static_cast<std::size_t>(object)];
  return named.executable ? "the executable" : displayed(named.path);
}

}  // namespace compatrix::linker
