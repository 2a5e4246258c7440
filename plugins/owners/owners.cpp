#include "plugins/owners/owners.h"

#include <cstring>

#include "framework/base/version.h"
#include "framework/wheel/dist_info.h"

namespace owners {
namespace {

std::string named(const compatrix_distribution& distribution) {
  return std::string(distribution.name) + " " + distribution.version;
}

bool requires_it(const compatrix_distribution& distribution, const compatrix_distribution& owner) {
  const auto metadata = compatrix::wheel::parse_metadata(distribution.metadata);
  const auto version = compatrix::Version::parse(owner.version);
  if (!metadata || !version) return false;
  for (const std::string& text : metadata->requires_dist) {
    const auto requirement = compatrix::wheel::parse_requirement(text);
    if (!requirement || requirement->project != owner.name) continue;
    const auto specifiers = compatrix::SpecifierSet::parse(requirement->specifiers);
    if (specifiers && specifiers->contains(*version)) return true;
  }
  return false;
}

// Which owner is required, and by whom: torch's word goes before others'.
void find_required(Dispute& dispute, const compatrix_disputed_file& file, const compatrix_environment_1& environment,
                   compatrix_run* run) {
  for (const bool torch : {true, false}) {
    for (std::size_t d = 0; d < environment.distribution_count(run); ++d) {
      const compatrix_distribution& distribution = *environment.distribution(run, d);
      if ((std::strcmp(distribution.name, "torch") == 0) != torch) continue;
      for (std::size_t o = 0; o < file.owner_count; ++o) {
        const compatrix_distribution& owner = *environment.distribution(run, file.owners[o]);
        if (file.owners[o] == d || !requires_it(distribution, owner)) continue;
        if (!dispute.required.empty() && dispute.required != named(owner)) {
          dispute.required.clear();
          return;
        }
        dispute.required = named(owner);
        dispute.required_by = distribution.name;
      }
    }
    if (!dispute.required.empty()) return;
  }
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

}  // namespace

std::vector<Dispute> disputes_of(const compatrix_environment_1& environment, compatrix_run* run) {
  std::vector<Dispute> disputes;
  for (std::size_t i = 0, count = environment.disputed_count(run); i < count; ++i) {
    const compatrix_disputed_file& file = *environment.disputed(run, i);
    Dispute& dispute = disputes.emplace_back();
    dispute.path = file.path;
    dispute.present = file.present != 0;
    for (std::size_t o = 0; o < file.owner_count; ++o) {
      const compatrix_distribution& owner = *environment.distribution(run, file.owners[o]);
      dispute.owners.push_back(named(owner));
      dispute.installed = *owner.file_name == '\0';
    }
    if (file.bytes_of != SIZE_MAX) dispute.bytes_of = named(*environment.distribution(run, file.bytes_of));
    find_required(dispute, file, environment, run);
  }
  return disputes;
}

std::string words_for(const Dispute& dispute) {
  if (!dispute.present) return "listed in RECORD of " + listed(dispute.owners) + " and missing on disk";
  const std::string claimed = "claimed by " + listed(dispute.owners) + ", which have different bytes for it";
  if (!dispute.installed) return claimed + ": which of them an installer writes last is left to chance";
  if (dispute.bytes_of.empty()) return claimed + "; those on disk are nobody's";
  return claimed + "; those on disk are of " + dispute.bytes_of;
}

std::string remedy_for(const Dispute& dispute) {
  if (dispute.owners.size() == 1) return "install " + dispute.owners.front() + " again: parts of it are gone from disk";
  const std::string again = dispute.required.empty()
                                ? "the one that is needed"
                                : dispute.required + ", the one that " + dispute.required_by + " requires";
  if (!dispute.installed) return "take only one of " + listed(dispute.owners) + ": " + again;
  return "uninstall " + listed(dispute.owners) + ", then install " + again +
         ": to uninstall only one of them would delete the file of both";
}

}  // namespace owners
