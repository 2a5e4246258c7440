#include "known_releases.h"

#include <algorithm>
#include <array>
#include <set>

#include "causes.h"
#include "finding.h"
#include "layout.h"
#include "stable_shim.h"

namespace torch_abi {
namespace {

constexpr const char* kCore = "torch/lib/libc10.so";
// The libraries that extensions take torch's functions from; builds for the CPU lack two of them.
constexpr std::array kLibraries{kCore, "torch/lib/libc10_cuda.so", "torch/lib/libtorch_cpu.so",
                                "torch/lib/libtorch_cuda.so", "torch/lib/libtorch_python.so"};

bool may_be_torch(const char* symbol) {
  return is_torch_cpp_symbol(symbol) || is_shim_name(symbol);
}

// What counted files ask of torch: the functions that are missing here, and those that this torch has.
std::set<std::string> asked_of_torch(const Cell& cell, const Judgement& judgement, std::size_t own) {
  std::set<std::string> asked;
  for (const Obstacle& obstacle : judgement.obstacles)
    if (obstacle.kind == "undefined-symbol" && obstacle.cause == kTorchAbi && judgement.counts(obstacle))
      asked.insert(obstacle.symbol);
  for (const FileOutcome& file : judgement.files) {
    if (!file.counts()) continue;
    const compatrix_elf_facts* facts = cell.elf->facts(cell.run, file.path.c_str());
    if (facts == nullptr) throw FactsUnavailable{};
    for (std::size_t i = 0; i < facts->undefined_count; ++i)
      if (may_be_torch(facts->undefined[i]) &&
          std::any_of(kLibraries.begin(), kLibraries.end(), [&](const char* library) {
            return cell.releases->defines(cell.run, "torch", kCore, own, library, facts->undefined[i]) == 1;
          }))
        asked.insert(facts->undefined[i]);
  }
  return asked;
}

enum class Has { all, not_all, unknown };

Has has_all(const Cell& cell, std::size_t release, const std::set<std::string>& symbols) {
  Has has = Has::all;
  for (const std::string& symbol : symbols) {
    bool unknown = false, defined = false;
    for (const char* library : kLibraries) {
      const int answer = cell.releases->defines(cell.run, "torch", kCore, release, library, symbol.c_str());
      defined |= answer == 1;
      unknown |= answer < 0;
    }
    if (!defined && !unknown) return Has::not_all;
    if (!defined) has = Has::unknown;
  }
  return has;
}

std::vector<std::string> versions(const Cell& cell) {
  std::vector<std::string> versions;
  for (std::size_t i = 0, count = cell.releases->count(cell.run, "torch", kCore); i < count; ++i)
    versions.emplace_back(cell.releases->version(cell.run, "torch", kCore, i));
  return versions;
}

std::string version_of_torch(const Cell& cell) {
  return cell.environment->distribution(cell.run, static_cast<std::size_t>(cell.find("torch")))->version;
}

}  // namespace

void report_known_releases(const Cell& cell, const Judgement& judgement, const std::string& torch) {
  if (cell.releases == nullptr || judgement.undefined_symbols() == 0) return;
  const std::vector<std::string> known = versions(cell);
  const auto own = std::find(known.begin(), known.end(), version_of_torch(cell));
  if (own == known.end()) return;
  const std::set<std::string> asked = asked_of_torch(cell, judgement, static_cast<std::size_t>(own - known.begin()));
  std::vector<std::string> looked_at, fitting;
  for (std::size_t i = 0; i < known.size(); ++i) {
    const Has has = has_all(cell, i, asked);
    if (has != Has::unknown) looked_at.push_back(known[i]);
    if (has == Has::all) fitting.push_back(known[i]);
  }
  if (looked_at.size() < 2) return;
  Fields fields;
  add(fields, "releases", fitting);
  add(fields, "looked_at", looked_at);
  const std::string all =
      plural(asked.size(), "function") + " that " + (asked.size() == 1 ? "is" : "are") + " asked of torch";
  report_finding(cell, "", "known-releases", "",
                 fitting.empty()
                     ? "none of the " + std::to_string(looked_at.size()) +
                           " torch releases that were looked at here has all " + all
                     : "of the torch releases that were looked at here, " + join(fitting, ", ") +
                           (fitting.size() == 1 ? " has" : " have") + " all " + all + "; " + torch + " has not",
                 fields);
}

std::vector<std::string> changed_sizes(const Cell& cell, const std::vector<std::string>& files,
                                       const std::vector<std::string>& built_with) {
  std::vector<std::string> changed;
  if (cell.releases == nullptr) return changed;
  const std::vector<std::string> known = versions(cell);
  const auto own = std::find(known.begin(), known.end(), version_of_torch(cell));
  const auto built = std::find_if(known.begin(), known.end(), [&](const std::string& version) {
    const std::string release = version.substr(0, version.find('+'));
    return std::find(built_with.begin(), built_with.end(), release) != built_with.end();
  });
  if (own == known.end() || built == known.end()) return changed;
  const auto size = [&](auto release, const char* library, const char* symbol) {
    return cell.releases->object_size(cell.run, "torch", kCore, static_cast<std::size_t>(release - known.begin()),
                                      library, symbol);
  };
  for (const std::string& file : files) {
    const compatrix_elf_facts* facts = cell.elf->facts(cell.run, file.c_str());
    if (facts == nullptr) throw FactsUnavailable{};
    for (std::size_t i = 0; i < facts->undefined_count; ++i) {
      const char* symbol = facts->undefined[i];
      if (!is_torch_cpp_symbol(symbol)) continue;
      for (const char* library : kLibraries) {
        const std::uint64_t then = size(built, library, symbol), now = size(own, library, symbol);
        if (then != 0 && now != 0 && then != now)
          add_once(changed, readable(symbol) + ": " + std::to_string(then) + " bytes in torch " + *built + ", " +
                                std::to_string(now) + " here");
      }
    }
  }
  return changed;
}

}  // namespace torch_abi
