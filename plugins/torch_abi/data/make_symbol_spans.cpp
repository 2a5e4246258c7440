// Prints which releases of a project have which function: for shim_symbols.txt and nccl_symbols.txt. Read from the
// symbol tables in each release's wheel on the configured index; what the store of facts has is not read again.
// For maintainers, when there is a new release (releases oldest first):
//   make_symbol_spans torch aoti_torch_,torch_ torch/lib/libtorch_cpu.so,torch/lib/libtorch_cuda.so 2.4.0 2.4.1 …
//   make_symbol_spans nvidia-nccl-cu12 nccl nvidia/nccl/lib/libnccl.so.2 2.18.3 …
#include <algorithm>
#include <cstdio>
#include <exception>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "framework/environment/environment.h"
#include "framework/environment/fetcher.h"
#include "lock_of.h"

namespace {

using namespace compatrix;

struct Question {
  std::string project;
  std::vector<std::string> prefixes, members;
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

// The functions of those names that the release's libraries define.
Result<std::set<std::string>> functions_of(const Question& question, const std::string& release, Fetcher& fetcher,
                                           const facts::FactStore& store) {
  const auto lock = torch_abi::lock_of(question.project + "==" + release);
  if (!lock) return lock.error();
  if (const auto learnt = fetcher.learn(*lock); !learnt) return learnt.error();
  const std::string key = facts_key(lock->wheels.front());
  std::set<std::string> symbols;
  for (const std::string& member : question.members) {
    const Want want{.sha256 = key, .member = member};
    if (const auto errors = fetcher.fetch(std::span(&want, 1)); !errors.empty()) return errors.front();
    const auto library = store.library(key, member);
    if (!library || !library->elf) return Error{member, "no symbol table in " + question.project + " " + release};
    for (std::uint32_t i = 1; i < library->elf->symbol_count(); ++i)
      if (const std::string_view name = library->elf->symbol_name(i);
          !library->elf->symbol(i).undefined() &&
          std::any_of(question.prefixes.begin(), question.prefixes.end(),
                      [&](const std::string& prefix) { return name.starts_with(prefix); }))
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

int main(int count, char** arguments) try {
  if (count < 5) {
    fmt::print(stderr,
               "usage: make_symbol_spans PROJECT PREFIX[,PREFIX...] MEMBER[,MEMBER...] RELEASE... (oldest first)\n");
    return 2;
  }
  const Question question{.project = arguments[1], .prefixes = split(arguments[2]), .members = split(arguments[3])};
  const std::vector<std::string> releases(arguments + 4, arguments + count);
  const facts::FactStore store(facts::default_store_folder());
  Fetcher fetcher(store, {});
  std::map<std::string, std::vector<std::string>> table;  // symbol, the releases that have it
  for (const std::string& release : releases) {
    const auto symbols = functions_of(question, release, fetcher, store);
    if (!symbols) {
      fmt::print(stderr, "{}\n", symbols.error().text());
      return 3;
    }
    for (const std::string& symbol : *symbols) table[symbol].push_back(release);
    fmt::print(stderr, "{} {}: {} functions\n", question.project, release, symbols->size());
  }
  fmt::print(
      "# Made by make_symbol_spans from the symbol tables in each release's wheel; do not edit.\n"
      "# A function of {} and the first release that has it; where a later one dropped it, the last too.\n"
      "releases {}\n",
      question.project, fmt::join(releases, " "));
  for (const auto& [symbol, in] : table) {
    const Run run = last_run(in, releases);
    fmt::print("{} {}{}\n", symbol, run.first, run.last == releases.back() ? "" : " " + run.last);
  }
  return 0;
} catch (const std::exception& failure) {
  static_cast<void>(std::fprintf(stderr, "make_symbol_spans: %s\n", failure.what()));
  return 3;
}
