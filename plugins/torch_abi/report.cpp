#include "report.h"

#include <algorithm>
#include <map>

#include "causes.h"
#include "finding.h"
#include "known_releases.h"
#include "python_api.h"
#include "stable_shim.h"
#include "string_abi.h"

namespace torch_abi {
namespace {

// "libcudart.so.13" where libcudart.so.12 is missing: the same library as this environment has it.
std::vector<std::string> other_versions(const Cell& cell, const std::string& soname) {
  std::vector<std::string> found;
  for (const std::string& path : cell.matching("nvidia/*/lib/" + library_stem(soname) + ".so.[0-9]*")) {
    std::string base = path.substr(path.rfind('/') + 1);
    if (std::find(found.begin(), found.end(), base) == found.end()) found.push_back(std::move(base));
  }
  return found;
}

// A library that is there in a release before the one that is needed.
std::string lacking_sentence(const Obstacle& obstacle) {
  const Origin& origin = obstacle.origin;
  std::string sentence = origin.library;
  if (!origin.owner.empty()) sentence += ", which is " + origin.owner + "'s,";
  sentence += " lacks " + (obstacle.symbol.empty() ? "version " + obstacle.version : obstacle.symbol) +
              ", which is there from " + origin.release + " on";
  if (origin.dispute) sentence += "; " + origin.dispute->path + " is " + owners::words_for(*origin.dispute);
  return sentence;
}

std::string sentence_for(const Obstacle& obstacle, const std::vector<std::string>& instead) {
  if (obstacle.kind == "library-not-found") {
    if (obstacle.origin.dispute)
      return obstacle.library + " is needed, and " + obstacle.origin.dispute->path + " is " +
             owners::words_for(*obstacle.origin.dispute);
    std::string sentence = obstacle.library + " is needed and found nowhere";
    if (!instead.empty()) sentence += "; this environment has " + instead.front();
    if (!obstacle.origin.debian.empty()) sentence += "; it is the system's: Debian has it in " + obstacle.origin.debian;
    return sentence;
  }
  if (!obstacle.origin.release.empty()) return lacking_sentence(obstacle);
  if (obstacle.kind != "undefined-symbol") return obstacle.message;
  if (obstacle.cause == kPythonAbi) return python_sentence(obstacle);
  std::string sentence = obstacle.demangled + " is not defined";
  if (!obstacle.expected_in.empty()) sentence += " in " + obstacle.expected_in;
  if (!obstacle.version.empty()) sentence += " in version " + obstacle.version;
  if (!obstacle.instead.empty()) sentence += ", which has " + obstacle.instead.front();
  return sentence;
}

const char* outcome_word(compatrix_load_outcome outcome) {
  return outcome == COMPATRIX_LOADS ? "loads" : outcome == COMPATRIX_LOAD_FAILS ? "fails" : "kills";
}

// "1 file for another Python", "3 files not used here"
std::string uncounted_words(const Judgement& judgement) {
  std::size_t for_others = 0, uncounted = 0;
  for (const FileOutcome& file : judgement.files) {
    if (file.counts()) continue;
    ++uncounted;
    if (file.uncounted.starts_with("named for ")) ++for_others;
  }
  return plural(uncounted, "file") + (for_others == uncounted ? " for another Python" : " not used here");
}

const char* layout_word(LayoutVerdict verdict) {
  switch (verdict) {
    case LayoutVerdict::same:
      return nullptr;
    case LayoutVerdict::unknown:
      return "unknown";
    case LayoutVerdict::risk:
      return "risk";
    case LayoutVerdict::initialiser:
      return "initialiser";
  }
  return nullptr;
}

std::vector<std::string> paths_of(const std::vector<const FileOutcome*>& files) {
  std::vector<std::string> paths;
  for (const FileOutcome* file : files) paths.push_back(file->path);
  return paths;
}

// Files that resolve but were built against another torch's layout: one finding for each torch that they were built
// with, with the evidence.
void report_layout(const Cell& cell, const Judgement& judgement) {
  constexpr std::size_t kShown = 6;
  std::map<std::string, std::vector<const FileOutcome*>> by_build;
  for (const FileOutcome& file : judgement.files)
    if (file.counts() && file.layout.verdict == LayoutVerdict::risk && file.outcome == COMPATRIX_LOADS)
      by_build[file.layout.build.known() ? "torch " + file.layout.build.text() : "another torch"].push_back(&file);
  for (const auto& [build, files] : by_build) {
    Fields fields;
    std::vector<std::string> assertions, sizes;
    for (const FileOutcome* file : files) {
      fields.emplace_back("files", file->path);
      for (const Assertion& assertion : file->layout.build.telling)
        add_once(assertions, assertion.header + ":" + std::to_string(assertion.line));
      for (const SizeDifference& difference : file->layout.differences)
        add_once(sizes, readable(difference.symbol) + ": " + std::to_string(difference.in_file) +
                            " bytes in the file, " + std::to_string(difference.in_torch) + " in " + difference.library);
    }
    for (std::string& change : changed_sizes(cell, paths_of(files), files.front()->layout.build.releases))
      add_once(sizes, std::move(change));
    const std::size_t differing = sizes.size();
    assertions.resize(std::min(kShown, assertions.size()));
    sizes.resize(std::min(kShown, sizes.size()));
    add(fields, "built_with", build);
    add(fields, "assertions", assertions);
    add(fields, "sizes", sizes);
    const bool one = files.size() == 1;
    std::string sentence = plural(files.size(), "file") + (one ? " misses" : " miss") + " no symbol, but " +
                           (one ? "was" : "were") + " built with " + build + " and " + (one ? "uses" : "use") +
                           " its C++ interface, whose layout no release promises";
    if (differing != 0) sentence += "; " + plural(differing, "object") + " of another size here";
    report_finding(cell, std::string(kLayoutRisk), "layout-risk", files.front()->path, sentence, fields);
  }
}

void report_obstacle(const Cell& cell, const Judgement& judgement, const Obstacle& obstacle) {
  const bool missing = obstacle.kind == "library-not-found";
  const std::vector<std::string> instead = missing ? other_versions(cell, obstacle.library) : obstacle.instead;
  Fields fields;
  add(fields, "needed", missing ? obstacle.library : "");
  add(fields, "library", missing ? "" : obstacle.library);
  add(fields, "symbol", obstacle.symbol);
  add(fields, "demangled", obstacle.demangled);
  add(fields, "version", obstacle.version);
  add(fields, "expected_in", obstacle.expected_in);
  add(fields, "instead", instead);
  add(fields, "other_string_abi", obstacle.other_string_abi);
  add(fields, "distribution", obstacle.origin.distribution);
  add(fields, "system_package", obstacle.origin.debian);
  add(fields, "owner", obstacle.origin.owner);
  add(fields, "release", obstacle.origin.release);
  if (obstacle.origin.dispute) {
    add(fields, "claimed_by", obstacle.origin.dispute->owners);
    add(fields, "bytes_of", obstacle.origin.dispute->bytes_of);
  }
  add(fields, missing ? "needed_by" : "files", missing ? obstacle.needed_by : obstacle.files);
  if (missing) add(fields, "files", obstacle.files);
  add(fields, "searched", obstacle.searched);
  report_finding(cell, judgement.counts(obstacle) ? obstacle.cause : "", obstacle.kind,
                 obstacle.files.empty() ? "" : obstacle.files.front(), sentence_for(obstacle, instead), fields);
}

// What of torch is missing, by the library that has the nearest relatives.
void report_missing_by_library(const Cell& cell, const Judgement& judgement) {
  std::map<std::string, std::vector<const Obstacle*>> by_library;
  for (const Obstacle& obstacle : judgement.obstacles)
    if (obstacle.kind == "undefined-symbol" && obstacle.cause == kTorchAbi && judgement.counts(obstacle))
      by_library[obstacle.expected_in].push_back(&obstacle);
  for (const auto& [library, obstacles] : by_library) {
    if (obstacles.size() < 2) continue;
    Fields fields;
    add(fields, "library", library);
    std::size_t changed = 0;
    for (const Obstacle* obstacle : obstacles) {
      fields.emplace_back("symbols", obstacle->demangled.empty() ? obstacle->symbol : obstacle->demangled);
      changed += obstacle->instead.empty() ? 0 : 1;
    }
    std::string sentence = plural(obstacles.size(), "symbol") + " of torch " +
                           (library.empty() ? "" : "are missing in ") +
                           (library.empty() ? "have no relative in any library" : library);
    if (changed != 0) sentence += "; " + std::to_string(changed) + " of them it has with another signature";
    report_finding(cell, std::string(kTorchAbi), "missing-symbols", obstacles.front()->files.front(), sentence, fields);
  }
}

}  // namespace

void report_findings(const Cell& cell, const Judgement& judgement, const std::vector<ShimUse>& uses) {
  report_string_abi(cell, judgement);
  report_missing_by_library(cell, judgement);
  // What speaks against the package first.
  for (const bool counting : {true, false})
    for (const Obstacle& obstacle : judgement.obstacles)
      if (judgement.counts(obstacle) == counting) report_obstacle(cell, judgement, obstacle);
  report_layout(cell, judgement);
  report_shim_uses(cell, uses);
  for (const FileOutcome& file : judgement.files) {
    // What dlopen would say of this file by itself; then how it fares when its package has opened what comes before it.
    const Alone alone = file.alone.value_or(Alone{.outcome = file.outcome, .message = file.message});
    Fields fields{{"outcome", outcome_word(alone.outcome)}};
    if (file.alone) fields.emplace_back("in_package", file.outcome == COMPATRIX_LOADS ? "loads" : file.message);
    if (const char* word = layout_word(file.layout.verdict)) fields.emplace_back("layout", word);
    if (file.layout.build.known()) fields.emplace_back("built_with_torch", file.layout.build.text());
    if (!file.counts()) fields.emplace_back("counted", "no: " + file.uncounted);
    report_finding(cell, "", "file-outcome", file.path, alone.message.empty() ? "loads" : alone.message, fields);
  }
}

void report_assumptions(const Cell& cell, const Judgement& judgement) {
  const auto assume = [&](const std::string& sentence) { cell.host->report_assumption(cell.run, sentence.c_str()); };
  assume("import torch has run before, and nothing else was opened in between");
  assume(std::string("the interpreter's own symbols are those of ") + cell.environment->interpreter(cell.run));
  std::vector<std::string> assumed, from_system;
  for (const FileOutcome& file : judgement.files) {
    if (!file.counts()) continue;
    for (const std::string& library : file.assumed) add_once(assumed, library);
    for (const std::string& path : file.from_system) add_once(from_system, path);
  }
  for (const std::string& library : assumed)
    assume(library + " comes with the GPU driver and has every function that is asked of it");
  if (!from_system.empty()) assume("taken from this machine: " + join(from_system, ", "));
  if (const std::size_t unknown = judgement.with_layout(LayoutVerdict::unknown); unknown != 0)
    assume(plural(unknown, "file") +
           " had the objects' layout of this torch when built: nothing in the files tells which torch they were built "
           "with");
}

void conclude(const Cell& cell, const Judgement& judgement, const Subject& subject) {
  const std::vector<std::string> causes = judgement.causes();
  const std::size_t total = judgement.files.size(), failing = judgement.failing(), counted = judgement.counted();
  std::string summary;
  const std::size_t risky = judgement.with_layout(LayoutVerdict::risk);
  if (failing == 0) {
    summary = std::to_string(counted) + " of " + plural(counted, "file") + (counted == 1 ? " loads" : " load");
    if (const std::string built = judgement.built_with(); risky != 0)
      summary += "; " + std::to_string(risky) + " built with " + (built.empty() ? "another torch" : built) +
                 ", whose layout is not promised to be this one's";
  } else {
    summary = std::to_string(failing) + " of " + plural(counted, "file") + " can't load: ";
    const std::size_t symbols = judgement.undefined_symbols();
    std::vector<std::string> libraries;
    for (const Obstacle& o : judgement.obstacles)
      if (o.kind == "library-not-found" && judgement.counts(o)) libraries.push_back(o.library);
    if (!libraries.empty()) summary += join(libraries, ", ") + " not found";
    if (symbols != 0)
      summary += (libraries.empty() ? "" : "; ") + plural(symbols, "symbol") + " of " + subject.torch + " missing";
    const std::size_t dead = judgement.dying();
    if (dead != 0)
      summary += (libraries.empty() && symbols == 0 ? "" : "; ") + plural(dead, "file") +
                 " built with another torch would die in static initialisers";
    if (libraries.empty() && symbols == 0 && dead == 0)
      summary += std::find_if(judgement.obstacles.begin(), judgement.obstacles.end(), [&](const Obstacle& o) {
                   return judgement.counts(o);
                 })->message;
  }
  if (counted != total) summary += " (" + uncounted_words(judgement) + " not counted)";
  if (const std::size_t mixed = judgement.of_other_major.size(); failing == 0 && mixed != 0)
    summary += "; " + std::to_string(mixed) + " with a second major of CUDA in the process";
  const bool doubtful = risky != 0 || !judgement.of_other_major.empty();
  const std::string cause = failing != 0 ? (causes.empty() ? "" : causes.front())
                            : risky != 0 ? std::string(kLayoutRisk)
                            : doubtful   ? std::string(kCudaRuntime)
                                         : "";
  const compatrix_conclusion conclusion{.struct_size = sizeof(compatrix_conclusion),
                                        .status = failing != 0 ? COMPATRIX_FAIL
                                                  : doubtful   ? COMPATRIX_WARN
                                                               : COMPATRIX_PASS,
                                        .basis = COMPATRIX_PREDICTED,
                                        .cause = cause.c_str(),
                                        .summary = summary.c_str()};
  cell.host->conclude(cell.run, &conclusion);
}

}  // namespace torch_abi
