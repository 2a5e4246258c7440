#include "torch_import.h"

#include "importable.h"

#include <array>

namespace torch_abi {
namespace {

// Extension modules of the standard library that importing torch imports on the way, before and after its own _C, in an
// interpreter that has them as files (seen in /proc/self/maps of CPython 3.11 to 3.13). They matter by what they need:
// libffi, libssl, libz and others are in the process from then on.
constexpr std::array kModulesBefore{
    "_ctypes", "_struct", "_json",   "_opcode", "math",  "_typing",          "_socket", "zlib",      "_bz2",
    "_lzma",   "_bisect", "_random", "_sha512", "fcntl", "_posixsubprocess", "select",  "_datetime", "array"};
constexpr std::array kModulesAfter{"_contextvars", "_pickle",          "_heapq",      "grp",     "mmap",  "binascii",
                                   "_queue",       "_hashlib",         "_blake2",     "_csv",    "cmath", "_uuid",
                                   "_ssl",         "_multiprocessing", "_posixshmem", "_asyncio"};

// The text from `begin` to the next `end`, empty where either is not there.
std::string_view between(std::string_view text, std::string_view begin, std::string_view end) {
  const std::size_t from = text.find(begin);
  if (from == std::string_view::npos) return {};
  const std::size_t to = text.find(end, from + begin.size());
  return text.substr(from, to == std::string_view::npos ? to : to - from);
}

// The next double-quoted string at or after `at`; `at` moves behind it. False where there is none.
bool next_quoted(std::string_view text, std::size_t& at, std::string& value) {
  const std::size_t open = text.find('"', at);
  if (open == std::string_view::npos) return false;
  const std::size_t close = text.find('"', open + 1);
  if (close == std::string_view::npos) return false;
  value = text.substr(open + 1, close - open - 1);
  at = close + 1;
  return true;
}

void add_pairs(std::string_view text, std::vector<std::pair<std::string, std::string>>& pairs) {
  // Tuples of two strings: ("cublas", "libcublas.so.*[0-9]")
  for (std::size_t open = text.find('('); open != std::string_view::npos; open = text.find('(', open + 1)) {
    const std::string_view tuple = text.substr(open, text.find(')', open) - open);
    std::size_t at = 0;
    std::string folder, pattern;
    if (next_quoted(tuple, at, folder) && next_quoted(tuple, at, pattern)) pairs.emplace_back(folder, pattern);
  }
}

const compatrix_load* opened(const compatrix_load* load) {
  if (load == nullptr) throw FactsUnavailable{};
  return load;
}

// torch's own search: nvidia/<folder>/lib, nvidia/cu<major>/lib, <folder>/lib below site-packages.
std::vector<std::string> preload_candidates(const Cell& cell, const std::string& folder, const std::string& pattern,
                                            const std::string& cuda_major) {
  std::vector<std::string> found = cell.matching("nvidia/" + folder + "/lib/" + pattern);
  for (const std::string& place : {"nvidia/cu" + cuda_major + "/lib/", folder + "/lib/"})
    for (std::string& path : cell.matching(place + pattern)) found.push_back(std::move(path));
  return found;
}

bool needs_cuda_runtime(const Cell& cell, const char* path) {
  const compatrix_elf_facts* facts = cell.elf->facts(cell.run, path);
  if (facts == nullptr) throw FactsUnavailable{};
  for (std::size_t i = 0; i < facts->needed_count; ++i)
    if (std::string_view(facts->needed[i]).starts_with("libcudart.so")) return true;
  return false;
}

void preload_cuda_libraries(const Cell& cell, compatrix_process* process) {
  const char* init = cell.environment->read_text(cell.run, "torch/__init__.py");
  if (init == nullptr) return;
  const PreloadList list = parse_preload_list(init);
  const std::string cuda = cuda_of_torch(cell), major = cuda.substr(0, cuda.find('.'));
  for (const auto& [folder, pattern] : list.libraries) {
    const std::vector<std::string> candidates = preload_candidates(cell, folder, pattern, major);
    if (candidates.empty()) {
      if (!list.required || folder == "nvtx") continue;
      return;
    }
    if (opened(cell.linker->open(process, candidates.front().c_str(), COMPATRIX_OPEN_LOCAL))->outcome !=
        COMPATRIX_LOADS)
      return;
  }
}

}  // namespace

PreloadList parse_preload_list(std::string_view torch_init) {
  PreloadList list;
  const std::string_view body = between(torch_init, "def _load_global_deps", "\nif ");
  const std::string_view normal_way = body.substr(0, body.find("except OSError"));
  constexpr std::string_view kCall = "_preload_cuda_deps(";
  for (std::size_t at = normal_way.find(kCall); at != std::string_view::npos; at = normal_way.find(kCall, at + 1)) {
    const std::string_view call = normal_way.substr(at + kCall.size() - 1);
    const std::string_view arguments = call.substr(0, call.find(')'));
    list.required = list.required && arguments.find("required=False") == std::string_view::npos;
    if (arguments.find('"') == std::string_view::npos) {
      // No names in the call: the function has the list itself.
      add_pairs(between(torch_init, "def _preload_cuda_deps", "\n\n\n"), list.libraries);
      return list;
    }
    add_pairs(call.substr(0, arguments.size() + 1), list.libraries);
  }
  return list;
}

std::string cuda_of(std::string_view version_py) {
  for (std::size_t at = 0; at < version_py.size();) {
    const std::size_t end = std::min(version_py.find('\n', at), version_py.size());
    const std::string_view line = version_py.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with("cuda ") && !line.starts_with("cuda:") && !line.starts_with("cuda=")) continue;
    const std::size_t quote = line.find_first_of("'\"");
    if (quote == std::string_view::npos) return {};
    const std::string_view value = line.substr(quote + 1);
    return std::string(value.substr(0, value.find_first_not_of("0123456789.")));
  }
  return {};
}

std::string cuda_of_torch(const Cell& cell) {
  const char* version = cell.environment->read_text(cell.run, "torch/version.py");
  return version == nullptr ? "" : cuda_of(version);
}

namespace {

// Those of the modules that this interpreter imports.
std::vector<std::string> imported(const Cell& cell, std::vector<std::string> modules) {
  const auto others = passed_over(modules, interpreter_of(cell));
  std::erase_if(modules, [&](const std::string& path) { return others.contains(path); });
  return modules;
}

}  // namespace

const compatrix_load* import_torch(const Cell& cell, compatrix_process* process) {
  constexpr const char* kGlobalDeps = "torch/lib/libtorch_global_deps.so";
  const auto fails = [](const compatrix_load* load) { return opened(load)->outcome != COMPATRIX_LOADS; };
  std::vector<const char*> files{kGlobalDeps};
  std::vector<std::string> modules;
  for (const char* pattern :
       {"torch/_C.cpython-*.so", "numpy/_core/_multiarray_umath.*.so", "numpy/linalg/_umath_linalg.*.so"})
    for (std::string& path : imported(cell, cell.matching(pattern))) modules.push_back(std::move(path));
  for (const std::string& module : modules) files.push_back(module.c_str());
  cell.linker->prepare(process, files.data(), files.size());

  for (const char* module : kModulesBefore) cell.linker->open_standard_module(process, module);
  if (const auto* load = cell.linker->open(process, kGlobalDeps, COMPATRIX_OPEN_GLOBAL); fails(load)) return load;
  if (needs_cuda_runtime(cell, kGlobalDeps)) preload_cuda_libraries(cell, process);
  for (const std::string& module : modules)
    if (const auto* load = cell.linker->open(process, module.c_str(), COMPATRIX_OPEN_LOCAL);
        fails(load) && module.starts_with("torch/"))
      return load;
  for (const char* module : kModulesAfter) cell.linker->open_standard_module(process, module);
  return nullptr;
}

}  // namespace torch_abi
