#include "declared_torch.h"

#include <algorithm>

#include "causes.h"
#include "finding.h"
#include "framework/base/version.h"
#include "framework/wheel/dist_info.h"

namespace torch_abi {
namespace {

bool is_torch_fault(const Judgement& judgement, const std::string& file) {
  return std::any_of(judgement.obstacles.begin(), judgement.obstacles.end(), [&](const Obstacle& obstacle) {
    return (obstacle.cause == kTorchAbi || obstacle.cause == kInitialiser) &&
           std::find(obstacle.files.begin(), obstacle.files.end(), file) != obstacle.files.end();
  });
}

}  // namespace

DeclaredTorch declared_torch(const std::string& metadata, const std::string& torch_version) {
  DeclaredTorch declared;
  const auto parsed = compatrix::wheel::parse_metadata(metadata);
  const auto version = compatrix::Version::parse(torch_version);
  if (!parsed || !version) return declared;
  for (const std::string& text : parsed->requires_dist) {
    const auto requirement = compatrix::wheel::parse_requirement(text);
    if (!requirement || requirement->project != "torch" || requirement->marker.find("extra") != std::string::npos)
      continue;
    declared.requirement = text;
    const auto specifiers = compatrix::SpecifierSet::parse(requirement->specifiers);
    declared.admits = declared.admits && specifiers && specifiers->contains(*version);
  }
  return declared;
}

void report_declared_torch(const Cell& cell, const Judgement& judgement, const Package& package) {
  const compatrix_distribution& distribution = *cell.environment->distribution(cell.run, package.distribution);
  const compatrix_distribution& torch =
      *cell.environment->distribution(cell.run, static_cast<std::size_t>(cell.find("torch")));
  const DeclaredTorch declared = declared_torch(distribution.metadata, torch.version);
  if (declared.requirement.empty()) return;
  std::size_t failing = 0, at_fault = 0, uses_torch = 0, risky = 0;
  for (const FileOutcome& file : judgement.files) {
    if (!file.counts() || std::find(package.files.begin(), package.files.end(), file.path) == package.files.end())
      continue;
    failing += file.outcome != COMPATRIX_LOADS ? 1 : 0;
    at_fault += file.outcome != COMPATRIX_LOADS && is_torch_fault(judgement, file.path) ? 1 : 0;
    risky += file.layout.verdict == LayoutVerdict::risk ? 1 : 0;
    ++uses_torch;
  }
  const std::string name = std::string(distribution.name) + " " + distribution.version,
                    here = std::string("torch ") + torch.version;
  const Fields fields{{"requires", declared.requirement}};
  if (declared.admits && at_fault + risky != 0)
    report_finding(
        cell, "", "metadata-too-wide", "",
        "METADATA of " + name + " says " + declared.requirement + ", which admits " + here + ": " +
            (at_fault != 0 ? plural(at_fault, "file") + " can't load beside it"
                           : plural(risky, "file") + (risky == 1 ? " was" : " were") + " built for another torch"),
        fields);
  if (!declared.admits && failing == 0 && risky == 0 && uses_torch != 0)
    report_finding(cell, "", "metadata-too-narrow", "",
                   "METADATA of " + name + " says " + declared.requirement + ", which forbids " + here +
                       ": everything loads beside it",
                   fields);
}

}  // namespace torch_abi
