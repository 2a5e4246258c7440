#include <map>

#include "examination.h"
#include "plugins/owners/owners.h"

namespace wheel_integrity {

void examine_ownership(Examination& examination) {
  // One finding for each set of owners: an uninstall takes all files of a distribution at once.
  std::map<std::string, std::vector<owners::Dispute>> groups;
  for (owners::Dispute& dispute : owners::disputes_of(*examination.environment, examination.run))
    groups[owners::words_for(dispute)].push_back(std::move(dispute));
  for (const auto& [words, disputes] : groups) {
    const owners::Dispute& first = disputes.front();
    Found found{.cause = first.present ? "" : "corrupt-wheel",
                .kind = first.present ? "two-owners" : "missing-on-disk",
                .file = first.path,
                .message = first.path + " is " + words,
                .fields = {},
                .fatal = !first.present,
                .remedy = owners::remedy_for(first)};
    if (disputes.size() > 1) found.message += " (and " + std::to_string(disputes.size() - 1) + " more such files)";
    for (const std::string& owner : first.owners) found.fields.emplace_back("owners", owner);
    if (!first.bytes_of.empty()) found.fields.emplace_back("bytes_of", first.bytes_of);
    if (!first.required.empty()) found.fields.emplace_back("required", first.required);
    constexpr std::size_t kShown = 20;
    for (std::size_t i = 0; i < disputes.size() && i < kShown; ++i)
      found.fields.emplace_back("files", disputes[i].path);
    examination.found.push_back(std::move(found));
  }
}

}  // namespace wheel_integrity
