#include <algorithm>

#include "causes.h"
#include "finding.h"
#include "origins.h"
#include "python_api.h"
#include "report.h"
#include "string_abi.h"

namespace torch_abi {
namespace {

// Where nothing but functions of the stable shim is missing: the releases that have them. Empty where more is missing.
std::vector<std::string> shim_remedies(const Judgement& judgement, const Subject& subject,
                                       const std::vector<ShimUse>& uses) {
  std::vector<std::string> missing;
  for (const Obstacle& obstacle : judgement.obstacles) {
    if (obstacle.cause != kTorchAbi || !judgement.counts(obstacle)) continue;
    if (!is_shim_name(obstacle.symbol)) return {};
    for (const std::string& file : obstacle.files) add_once(missing, file);
  }
  std::vector<std::string> sentences;
  for (const ShimUse& use : uses)
    if (!use.releases.empty() &&
        std::find_first_of(use.files.begin(), use.files.end(), missing.begin(), missing.end()) != use.files.end())
      add_once(sentences, "take " + use.text() + ": " + subject.name + " uses nothing of torch but its stable C shim");
  return sentences;
}

void remedy(const Cell& cell, const std::string& sentence) {
  cell.host->report_remedy(cell.run, sentence.c_str());
}

// Files that are not what RECORD says: everything else may follow from them.
void remedy_disputes(const Cell& cell, const Judgement& judgement) {
  std::vector<std::string> sentences;
  for (const Obstacle& obstacle : judgement.obstacles)
    if (obstacle.origin.dispute && judgement.counts(obstacle))
      add_once(sentences, owners::remedy_for(*obstacle.origin.dispute));
  for (const std::string& sentence : sentences) remedy(cell, sentence);
}

void remedy_cuda(const Cell& cell, const Judgement& judgement, const Subject& subject) {
  const std::vector<std::string> cuda = judgement.missing_libraries(kCudaRuntime);
  if (cuda.empty()) return;
  const std::size_t undefined = judgement.undefined_symbols();
  remedy(cell, "take a build of " + subject.name + " for the CUDA that " + subject.torch +
                   " brings, or a torch built for the CUDA of " + join(cuda, ", "));
  if (undefined != 0)
    return remedy(cell, "installing the libraries that are missing will not repair this: behind them " +
                            plural(undefined, "symbol") + " of torch " + (undefined == 1 ? "is" : "are") +
                            " missing too");
  std::vector<std::string> distributions;
  for (const std::string& library : cuda)
    if (const std::string brings = distribution_with(library); !brings.empty()) add_once(distributions, brings);
  if (!distributions.empty())
    remedy(cell, join(distributions, ", ") + " would bring " + join(cuda, ", ") +
                     ", but a second CUDA runtime in one process is a risk of its own: rather a stopgap than a repair");
}

// A library that is there in too old a release.
void remedy_releases(const Cell& cell, const Judgement& judgement) {
  std::vector<std::string> sentences;
  for (const Obstacle& obstacle : judgement.obstacles) {
    const Origin& origin = obstacle.origin;
    if (origin.release.empty() || origin.dispute || !judgement.counts(obstacle)) continue;
    add_once(sentences, "bring " +
                            (origin.owner.empty() ? origin.library : origin.owner + " (" + origin.library + ")") +
                            " to " + origin.release + " or later");
  }
  for (const std::string& sentence : sentences) remedy(cell, sentence);
}

void remedy_torch(const Cell& cell, const Judgement& judgement, const Subject& subject,
                  const std::vector<ShimUse>& uses) {
  const std::vector<std::string> shim = shim_remedies(judgement, subject, uses);
  for (const std::string& sentence : shim) remedy(cell, sentence);
  if (!shim.empty() ||
      (judgement.undefined_symbols() == 0 && judgement.with_layout(LayoutVerdict::risk) == 0 && judgement.dying() == 0))
    return;
  const StringAbi strings = string_abi_of(judgement);
  if (!strings.other.empty())
    remedy(cell, std::string("take a build of ") + subject.name + " with the " + strings.of_torch() +
                     " std::string (_GLIBCXX_USE_CXX11_ABI=" + (strings.torch_has_new ? "1" : "0") +
                     "), or a torch with the " + strings.of_files() + " one");
  const std::string built = judgement.built_with();
  remedy(cell, "take the release of " + subject.name.substr(0, subject.name.find(' ')) + " that was built for " +
                   subject.torch + ", or " +
                   (built.empty() ? "the torch release that " + subject.name + " was built for"
                                  : built + ", which " + subject.name + " was built with"));
}

// Each kind of library has its own place to come from.
void remedy_libraries(const Cell& cell, const Judgement& judgement) {
  std::vector<std::string> sentences, unknown;
  for (const Obstacle& obstacle : judgement.obstacles) {
    if (obstacle.kind != "library-not-found" || obstacle.cause != kMissingLibrary || !judgement.counts(obstacle))
      continue;
    if (!obstacle.origin.distribution.empty())
      add_once(sentences, "install " + obstacle.origin.distribution + ", which brings " + obstacle.library);
    else if (!obstacle.origin.debian.empty())
      add_once(sentences, "install the system package that has " + obstacle.library +
                              " (Debian: " + obstacle.origin.debian + "); no Python package brings it");
    else
      add_once(unknown, obstacle.library);
  }
  for (const std::string& sentence : sentences) remedy(cell, sentence);
  if (!unknown.empty())
    remedy(cell, "install what brings " + join(unknown, ", ") +
                     ": no distribution of this cell and no package of this machine has it");
  if (!judgement.missing_libraries(kDriver).empty()) remedy(cell, "install the GPU driver");
}

// Systems that have every symbol version which is missing here.
void remedy_platform(const Cell& cell, const Judgement& judgement) {
  std::vector<const Obstacle*> missing;
  std::vector<std::string> versions;
  for (const Obstacle& obstacle : judgement.obstacles)
    if (obstacle.kind == "version-not-found" && obstacle.cause == kPlatform && judgement.counts(obstacle)) {
      missing.push_back(&obstacle);
      add_once(versions, obstacle.version);
    }
  if (missing.empty()) return;
  std::vector<std::string> enough;
  for (const char* const* name = cell.environment->platforms(cell.run); *name != nullptr; ++name)
    if (std::all_of(missing.begin(), missing.end(), [&](const Obstacle* obstacle) {
          return cell.environment->platform_defines(cell.run, *name, obstacle->library.c_str(),
                                                    obstacle->version.c_str()) == 1;
        }))
      enough.emplace_back(*name);
  remedy(cell, "take a wheel that is built for an older system, or a system with " + join(versions, ", ") +
                   (enough.empty() ? "; none of the platforms that are known has it"
                                   : "; of the platforms that are known: " + join(enough, ", ")));
}

}  // namespace

void report_remedies(const Cell& cell, const Judgement& judgement, const Subject& subject,
                     const std::vector<ShimUse>& uses) {
  remedy_disputes(cell, judgement);
  remedy_cuda(cell, judgement, subject);
  remedy_releases(cell, judgement);
  remedy_torch(cell, judgement, subject, uses);
  remedy_platform(cell, judgement);
  remedy_libraries(cell, judgement);
  if (const std::string sentence = python_remedy(judgement, subject.name, cell.environment->python_version(cell.run));
      !sentence.empty())
    remedy(cell, sentence);
}

}  // namespace torch_abi
