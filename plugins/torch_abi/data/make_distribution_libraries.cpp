// Prints which distribution brings which shared library, for distribution_libraries.txt. Read from the directory of
// each project's newest wheel on the configured index. For maintainers, when NVIDIA adds a project:
//   make_distribution_libraries nvidia-cuda-runtime-cu12 nvidia-cuda-runtime …
#include <algorithm>
#include <cstdio>
#include <exception>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>

#include "framework/environment/environment.h"
#include "framework/environment/fetcher.h"
#include "framework/wheel/dist_info.h"
#include "lock_of.h"

namespace {

using namespace compatrix;

Result<std::set<std::string>> libraries_of(const std::string& project, Fetcher& fetcher,
                                           const facts::FactStore& store) {
  const auto lock = torch_abi::lock_of(project);
  if (!lock) return lock.error();
  if (const auto learnt = fetcher.learn(*lock); !learnt) return learnt.error();
  const auto facts = store.wheel(facts_key(lock->wheels.front()));
  if (!facts) return Error{project, "its wheel's facts can't be read again"};
  std::set<std::string> libraries;
  for (const auto& [path, entry] : facts->files()) {
    const std::string name = path.substr(path.rfind('/') + 1);
    if (name.starts_with("lib") && name.find(".so.") != std::string::npos) libraries.insert(name);
  }
  return libraries;
}

}  // namespace

int main(int count, char** arguments) try {
  if (count < 2) {
    fmt::print(stderr, "usage: make_distribution_libraries PROJECT...\n");
    return 2;
  }
  const facts::FactStore store(facts::default_store_folder());
  Fetcher fetcher(store, {});
  std::map<std::string, std::set<std::string>> table;
  for (int i = 1; i < count; ++i) {
    const auto libraries = libraries_of(arguments[i], fetcher, store);
    if (!libraries) {
      fmt::print(stderr, "{}: {}\n", arguments[i], libraries.error().text());
      continue;
    }
    for (const std::string& library : *libraries) table[library].insert(arguments[i]);
    fmt::print(stderr, "{}: {} libraries\n", arguments[i], libraries->size());
  }
  fmt::print(
      "# Made by make_distribution_libraries from the newest wheel of each project; do not edit.\n"
      "# A library and the distributions that bring it.\n");
  for (const auto& [library, projects] : table) fmt::print("{} {}\n", library, fmt::join(projects, " "));
  return 0;
} catch (const std::exception& failure) {
  static_cast<void>(std::fprintf(stderr, "make_distribution_libraries: %s\n", failure.what()));
  return 3;
}
