#include "origins.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <vector>

#include "causes.h"
#include "debian_libraries.h"
#include "distribution_libraries.h"
#include "finding.h"
#include "nccl_symbols.h"
#include "symbol_spans.h"
#include "torch_import.h"

namespace torch_abi {
namespace {

// What follows "<name> " on its line of a table.
std::string looked_up(std::string_view table, std::string_view name) {
  const std::string beginning = "\n" + std::string(name) + " ";
  const std::size_t at = table.find(beginning);
  if (name.empty() || at == std::string_view::npos) return {};
  const std::size_t value = at + beginning.size();
  return std::string(table.substr(value, table.find('\n', value) - value));
}

std::string base_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

// The distribution of the cell that has a library of that name.
std::string owner_of(const Cell& cell, const std::string& soname) {
  for (std::size_t d = 0; d < cell.environment->distribution_count(cell.run); ++d)
    for (std::size_t i = 0, count = cell.environment->file_count(cell.run, d); i < count; ++i)
      if (base_name(cell.environment->file(cell.run, d, i)->path) == soname) {
        const compatrix_distribution& owner = *cell.environment->distribution(cell.run, d);
        return std::string(owner.name) + " " + owner.version;
      }
  return {};
}

void find_missing(Obstacle& obstacle, const std::vector<owners::Dispute>& disputes) {
  for (const owners::Dispute& dispute : disputes)
    if (!dispute.present && base_name(dispute.path) == obstacle.library) {
      obstacle.cause = kCorruptWheel;
      obstacle.origin.dispute = dispute;
      return;
    }
  obstacle.origin.distribution = distribution_with(obstacle.library);
  if (obstacle.cause == kMissingLibrary && obstacle.origin.distribution.empty())
    obstacle.origin.debian = debian_package_with(obstacle.library);
}

// A library that is there and lacks something.
void find_lacking(const Cell& cell, Obstacle& obstacle, const std::vector<owners::Dispute>& disputes) {
  std::string library = obstacle.kind == "undefined-symbol" ? obstacle.expected_in : obstacle.library;
  if (library.empty() && obstacle.cause == kNccl) library = "libnccl.so.2";
  if (library.empty() || (obstacle.cause != kNccl && obstacle.cause != kCudaRuntime)) return;
  for (const owners::Dispute& dispute : disputes)
    if (base_name(dispute.path) == library) obstacle.origin.dispute = dispute;
  // Another library of that name was found instead, for instance the system's.
  if (obstacle.origin.dispute && !obstacle.origin.dispute->present) obstacle.cause = kCorruptWheel;
  obstacle.origin.owner = obstacle.origin.dispute && !obstacle.origin.dispute->bytes_of.empty()
                              ? obstacle.origin.dispute->bytes_of
                              : owner_of(cell, library);
  obstacle.origin.library = library;
  obstacle.origin.release =
      library.starts_with("libnccl.so") ? nccl_release_with(obstacle.symbol) : minor_release_in(obstacle.symbol);
  if (obstacle.origin.release.empty()) obstacle.origin.release = minor_release_in(obstacle.version);
}

}  // namespace

std::string distribution_with(std::string_view soname) {
  return looked_up(kDistributionLibraries, soname);
}

std::string debian_package_with(std::string_view soname) {
  return looked_up(kDebianLibraries, soname);
}

std::string nccl_release_with(std::string_view symbol) {
  if (!symbol.starts_with("nccl")) return {};
  const std::vector<std::string> releases = SymbolSpans::parse(kNcclSymbols).releases_with({std::string(symbol)});
  return releases.empty() ? "" : releases.front();
}

std::string minor_release_in(std::string_view name) {
  std::size_t at = name.size();
  const auto number_before = [&](std::size_t end) {
    std::size_t begin = end;
    while (begin > 0 && std::isdigit(static_cast<unsigned char>(name[begin - 1])) != 0) --begin;
    return begin;
  };
  const std::size_t minor = number_before(at);
  if (minor == at || minor < 2 || name[minor - 1] != '_') return {};
  const std::size_t major = number_before(minor - 1);
  if (major == minor - 1 || major < 2 || name[major - 1] != '_' || !name.starts_with("__")) return {};
  return std::string(name.substr(major, minor - 1 - major)) + "." + std::string(name.substr(minor));
}

std::string cuda_major_of(std::string_view soname) {
  // Others count by themselves: libcufft.so.11 belongs to CUDA 12.
  constexpr std::array<std::string_view, 6> kSameMajor{"libcudart",   "libnvrtc",     "libcublas",
                                                       "libcublasLt", "libnvJitLink", "libnppc"};
  if (std::find(kSameMajor.begin(), kSameMajor.end(), library_stem(soname)) == kSameMajor.end()) return {};
  const std::size_t suffix = soname.find(".so.");
  if (suffix == std::string_view::npos) return {};
  const std::string_view version = soname.substr(suffix + 4);
  return std::string(version.substr(0, version.find('.')));
}

void apply_origins(const Cell& cell, Judgement& judgement) {
  std::optional<std::vector<owners::Dispute>> disputes;  // every RECORD of the cell is read for them
  for (Obstacle& obstacle : judgement.obstacles) {
    if (obstacle.kind != "library-not-found" && obstacle.kind != "undefined-symbol" &&
        obstacle.kind != "version-not-found")
      continue;
    if (!disputes) disputes = owners::disputes_of(*cell.environment, cell.run);
    if (obstacle.kind == "library-not-found")
      find_missing(obstacle, *disputes);
    else
      find_lacking(cell, obstacle, *disputes);
  }
}

void report_two_majors(const Cell& cell, Judgement& judgement, const std::string& torch) {
  const std::string cuda = cuda_of_torch(cell), major = cuda.substr(0, cuda.find('.'));
  if (major.empty()) return;
  std::vector<std::string> libraries;
  for (const FileOutcome& file : judgement.files) {
    if (!file.counts() || file.outcome != COMPATRIX_LOADS) continue;
    const compatrix_elf_facts* facts = cell.elf->facts(cell.run, file.path.c_str());
    if (facts == nullptr) throw FactsUnavailable{};
    for (std::size_t i = 0; i < facts->needed_count; ++i)
      if (const std::string other = cuda_major_of(facts->needed[i]); !other.empty() && other != major) {
        add_once(judgement.of_other_major, file.path);
        add_once(libraries, facts->needed[i]);
      }
  }
  if (judgement.of_other_major.empty()) return;
  Fields fields;
  add(fields, "files", judgement.of_other_major);
  add(fields, "libraries", libraries);
  report_finding(cell, std::string(kCudaRuntime), "two-cuda-majors", judgement.of_other_major.front(),
                 plural(judgement.of_other_major.size(), "file") + " would bring " + join(libraries, ", ") +
                     " into a process in which " + torch + " has CUDA " + major +
                     " already: it loads, and two CUDA runtimes in one process are a risk of their own",
                 fields);
}

}  // namespace torch_abi
