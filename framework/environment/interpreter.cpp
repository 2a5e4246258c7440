#include "framework/environment/interpreter.h"

#include <cstdlib>
#include <fstream>

#include <fmt/format.h>

#include "framework/base/subprocess.h"
#include "framework/bytes/mapped_file.h"
#include "framework/wheel/lock.h"

namespace compatrix {
namespace {

bool is_elf_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  char magic[4] = {};
  return in.read(magic, sizeof magic) && std::string_view(magic, sizeof magic) ==
                                             "\x7f"
                                             "ELF";
}

// The ELF file behind a path, links resolved; empty where it is none.
std::filesystem::path elf_behind(const std::filesystem::path& path) {
  std::error_code failure;
  const auto real = std::filesystem::canonical(path, failure);
  return failure || !is_elf_file(real) ? std::filesystem::path() : real;
}

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

}  // namespace

Result<InterpreterLayout> layout_of(const std::filesystem::path& python) {
  constexpr const char* kQuestion =
      "import platform, sys, sysconfig\n"
      "print(sys.implementation.name, '%d.%d' % sys.version_info[:2], platform.machine(), "
      "sysconfig.get_path('platlib'), sep='\\n')";
  const auto asked = run_program(
      {.arguments = {python.string(), "-I", "-c", kQuestion}, .environment = {}, .timeout = std::chrono::seconds(30)});
  if (!asked) return asked.error();
  if (asked->exit_code != 0 || asked->timed_out)
    return Error{python.string(), "did not say what it is; a CPython interpreter was expected (" +
                                      trimmed(asked->errors.substr(0, 200)) + ")"};
  std::vector<std::string> lines(1);
  for (const char c : asked->output) c == '\n' ? lines.emplace_back() : lines.back() += std::string(1, c);
  if (lines.size() < 4 || lines[0] != "cpython") return Error{python.string(), "is not a CPython interpreter"};
  InterpreterLayout layout{
      .executable = elf_behind(python), .version = lines[1], .machine = lines[2], .site_packages = lines[3]};
  if (layout.executable.empty()) {
    // A wrapper script: the interpreter itself knows where it is.
    const auto where = run_program({.arguments = {python.string(), "-I", "-c", "import sys; print(sys.executable)"}});
    if (where) layout.executable = elf_behind(trimmed(where->output));
  }
  if (layout.executable.empty()) return Error{python.string(), "leads to no ELF executable"};
  return layout;
}

std::filesystem::path find_interpreter(const std::string& version) {
  const char* path = std::getenv("PATH");
  std::string folders = path == nullptr ? "" : path;
  for (std::size_t at = 0; at <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', at), folders.size());
    if (auto found = elf_behind(std::filesystem::path(folders.substr(at, end - at)) / ("python" + version));
        !found.empty())
      return found;
    at = end + 1;
  }
  const auto uv = wheel::find_uv();
  if (!uv) return {};
  const auto found = run_program({.arguments = {uv->string(), "python", "find", "--no-python-downloads", version},
                                  .environment = {},
                                  .timeout = std::chrono::seconds(30)});
  return found && found->exit_code == 0 ? elf_behind(trimmed(found->output)) : std::filesystem::path();
}

std::string interpreter_facts_key(const std::string& version, const std::string& machine) {
  return fmt::format("interpreter-{}-{}", version, machine);
}

Result<Done> keep_interpreter_facts(const facts::FactStore& store, const std::filesystem::path& executable,
                                    const std::string& version, const std::string& machine) try {
  const std::string key = interpreter_facts_key(version, machine);
  if (store.has_library(key, kInterpreterMember)) return Done{};
  const auto mapped = MappedFile::open(executable);
  if (!mapped) return mapped.error();
  return store.put_library(key, kInterpreterMember,
                           facts::encode_library(elf::read_tables(**mapped), elf::examine(**mapped),
                                                 facts::RecordAgreement::not_listed, {}));
} catch (const FormatError& defect) {
  return Error{executable.string(), defect.what()};
}

std::filesystem::path dynload_folder(const std::filesystem::path& executable, const std::string& version) {
  return executable.parent_path().parent_path() / "lib" / ("python" + version) / "lib-dynload";
}

}  // namespace compatrix
