// Check wheel_integrity: is the wheel whole, and do its name, METADATA, WHEEL and RECORD tell the truth about its
// files?
#include <string>

#include "compatrix/check.hpp"
#include "compatrix/note.h"
#include "examination.h"

namespace wheel_integrity {
namespace {

using compatrix::sdk::Run;

// The one sentence: how bad it is and what stands out.
void conclude_with(Run& run, const std::vector<Found>& found, const std::string& subject) {
  const Found* fatal = nullptr;
  for (const Found& each : found)
    if (each.fatal && fatal == nullptr) fatal = &each;
  if (fatal != nullptr) {
    if (fatal->remedy.empty())
      run.remedy("take another copy of " + subject + ", or tell its publisher: installers may refuse it");
    return run.conclude(COMPATRIX_FAIL, "corrupt-wheel", fatal->message);
  }
  if (found.empty())
    return run.conclude(COMPATRIX_PASS, "", subject + ": archive, RECORD, METADATA, tags and glibc agree");
  std::string summary = found.front().message;
  if (found.size() > 1) summary += " (and " + std::to_string(found.size() - 1) + " more)";
  run.conclude(COMPATRIX_WARN, "", summary);
}

void evaluate(Run& run) {
  Examination examination{.run = run.handle(),
                          .environment = &run.service<compatrix_environment_1>(),
                          .elf = &run.service<compatrix_elf_1>()};
  std::string subject;
  for (std::size_t i = 0; i < examination.environment->distribution_count(examination.run); ++i) {
    const compatrix_distribution* distribution = examination.environment->distribution(examination.run, i);
    if (distribution->requested == 0 || std::string(distribution->name) == "torch") continue;
    subject += (subject.empty() ? "" : ", ") + std::string(distribution->name) + " " + distribution->version;
    examination.distribution = i;
    if (*distribution->file_name != '\0') examine_archive(examination);
    examine_metadata(examination);
    examine_stable_abi(examination);
    const std::string basis = examination.environment->integrity_basis(examination.run, i);
    if (!basis.starts_with("every byte")) run.assume(std::string(distribution->name) + ": " + basis);
  }
  if (!subject.empty()) examine_ownership(examination);
  for (const Found& found : examination.found)
    run.finding({found.cause, found.kind, found.file, found.message, found.fields});
  for (const Found& found : examination.found)
    if (!found.remedy.empty()) run.remedy(found.remedy);
  if (subject.empty()) return run.conclude(COMPATRIX_SKIP, "", "the cell asks for nothing but torch");
  conclude_with(run, examination.found, subject);
}

constexpr compatrix_check kCheck{
    .struct_size = sizeof(compatrix_check),
    .id = "wheel_integrity",
    .summary = "archive, RECORD, METADATA, tags and promised glibc agree with what the wheel holds",
    .needs = COMPATRIX_NEEDS_FILES,
    .default_timeout_s = 120,
    .parameters = nullptr,
    .parameter_count = 0,
    .run = &compatrix::sdk::guarded<evaluate>};
constexpr const compatrix_check* kChecks[] = {&kCheck};

}  // namespace
}  // namespace wheel_integrity

COMPATRIX_PLUGIN(
    "wheel_integrity", "0.1.0",
    "check wheel_integrity|0|120|archive, RECORD, METADATA, tags and promised glibc agree with what the wheel holds\n",
    wheel_integrity::kChecks)
