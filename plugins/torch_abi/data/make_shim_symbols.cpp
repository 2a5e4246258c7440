// Writes shim_symbols.txt: the first torch release that has each function of torch's stable C shim, read from the
// symbol tables of each release's wheel on the configured index. What the store of facts has already is not read again.
// For maintainers, when torch has a new release:
//   build/release/plugins/torch_abi/make_shim_symbols 2.4.1 2.5.1 … >plugins/torch_abi/data/shim_symbols.txt
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "framework/environment/environment.h"
#include "framework/environment/fetcher.h"
#include "framework/wheel/lock.h"
#include "stable_shim.h"

namespace {

using namespace compatrix;

Result<wheel::Lock> lock_of(const std::string& release) {
  wheel::LockRequest request;
  request.requirements = {"torch==" + release};
  request.without_dependencies = true;
  const auto file = std::filesystem::temp_directory_path() / fmt::format("pylock.{}.toml", ::getpid());
  if (const auto locked = wheel::write_lock(request, file); !locked) return locked.error();
  auto lock = wheel::read_lock(file, request.target);
  std::filesystem::remove(file);
  return lock;
}

// The shim's functions that the release's libraries define.
Result<std::set<std::string>> shim_of(const std::string& release, Fetcher& fetcher, const facts::FactStore& store) {
  const auto lock = lock_of(release);
  if (!lock) return lock.error();
  if (const auto learnt = fetcher.learn(*lock); !learnt) return learnt.error();
  const std::string key = facts_key(lock->wheels.front());
  std::set<std::string> symbols;
  for (const char* member : {"torch/lib/libtorch_cpu.so", "torch/lib/libtorch_cuda.so"}) {
    const Want want{.sha256 = key, .member = member};
    if (const auto errors = fetcher.fetch(std::span(&want, 1)); !errors.empty()) return errors.front();
    const auto library = store.library(key, member);
    if (!library || !library->elf) return Error{member, "no symbol table in torch " + release};
    for (std::uint32_t i = 1; i < library->elf->symbol_count(); ++i)
      if (const std::string_view name = library->elf->symbol_name(i);
          !library->elf->symbol(i).undefined() && torch_abi::is_shim_name(name))
        symbols.emplace(name);
  }
  return symbols;
}

// The last releases in a row that have a function: one that was gone in between begins anew.
struct Run {
  std::string first, last;
};
Run last_run(const std::vector<std::string>& in, const std::vector<std::string>& releases) {
  auto first = std::find(releases.begin(), releases.end(), in.back());
  while (first != releases.begin() && std::find(in.begin(), in.end(), *(first - 1)) != in.end()) --first;
  return {*first, in.back()};
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> releases(arguments + 1, arguments + count);
  if (releases.empty()) {
    fmt::print(stderr, "usage: make_shim_symbols RELEASE... (oldest first)\n");
    return 2;
  }
  const facts::FactStore store(facts::default_store_folder());
  Fetcher fetcher(store, {});
  std::map<std::string, std::vector<std::string>> table;  // symbol, the releases that have it
  for (const std::string& release : releases) {
    const auto symbols = shim_of(release, fetcher, store);
    if (!symbols) {
      fmt::print(stderr, "{}\n", symbols.error().text());
      return 3;
    }
    for (const std::string& symbol : *symbols) table[symbol].push_back(release);
    fmt::print(stderr, "torch {}: {} functions\n", release, symbols->size());
  }
  fmt::print(
      "# Made by make_shim_symbols from the symbol tables in each release's wheel; do not edit.\n"
      "# A function of torch's C shim and the first release that has it; where a later one dropped it, the last too.\n"
      "releases {}\n",
      fmt::join(releases, " "));
  for (const auto& [symbol, in] : table) {
    const Run run = last_run(in, releases);
    fmt::print("{} {}{}\n", symbol, run.first, run.last == releases.back() ? "" : " " + run.last);
  }
  return 0;
}
