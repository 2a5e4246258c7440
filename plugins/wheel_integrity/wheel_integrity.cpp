// Check wheel_integrity: is the wheel whole, and do its name, METADATA, WHEEL and RECORD tell the truth about its
// files?
#include <exception>
#include <string>

#include "compatrix/note.h"
#include "examination.h"

namespace wheel_integrity {
namespace {

void report(const compatrix_host* host, compatrix_run* run, const Found& found) {
  std::vector<compatrix_field> fields;
  for (const auto& [key, value] : found.fields) fields.push_back({key.c_str(), value.c_str()});
  const compatrix_finding finding{.struct_size = sizeof(compatrix_finding),
                                  .cause = found.cause.c_str(),
                                  .kind = found.kind.c_str(),
                                  .file = found.file.c_str(),
                                  .message = found.message.c_str(),
                                  .fields = fields.data(),
                                  .field_count = fields.size()};
  host->report_finding(run, &finding);
}

void conclude(const compatrix_host* host, compatrix_run* run, compatrix_status status, const char* cause,
              const std::string& summary) {
  const compatrix_conclusion conclusion{.struct_size = sizeof(compatrix_conclusion),
                                        .status = status,
                                        .basis = COMPATRIX_PREDICTED,
                                        .cause = cause,
                                        .summary = summary.c_str()};
  host->conclude(run, &conclusion);
}

// The one sentence: how bad it is and what stands out.
void conclude_with(const compatrix_host* host, compatrix_run* run, const std::vector<Found>& found,
                   const std::string& subject) {
  const Found* fatal = nullptr;
  for (const Found& each : found)
    if (each.fatal && fatal == nullptr) fatal = &each;
  if (fatal != nullptr) {
    host->report_remedy(
        run, ("take another copy of " + subject + ", or tell its publisher: installers may refuse it").c_str());
    return conclude(host, run, COMPATRIX_FAIL, "corrupt-wheel", fatal->message);
  }
  if (found.empty())
    return conclude(host, run, COMPATRIX_PASS, "", subject + ": archive, RECORD, METADATA, tags and glibc agree");
  std::string summary = found.front().message;
  if (found.size() > 1) summary += " (and " + std::to_string(found.size() - 1) + " more)";
  conclude(host, run, COMPATRIX_WARN, "", summary);
}

void evaluate(const compatrix_host* host, compatrix_run* run, Examination& examination) {
  std::string subject;
  for (std::size_t i = 0; i < examination.environment->distribution_count(run); ++i) {
    const compatrix_distribution* distribution = examination.environment->distribution(run, i);
    if (distribution->requested == 0 || std::string(distribution->name) == "torch") continue;
    subject += (subject.empty() ? "" : ", ") + std::string(distribution->name) + " " + distribution->version;
    examination.distribution = i;
    if (*distribution->file_name != '\0') examine_archive(examination);
    examine_metadata(examination);
    const std::string basis = examination.environment->integrity_basis(run, i);
    if (!basis.starts_with("every byte"))
      host->report_assumption(run, (std::string(distribution->name) + ": " + basis).c_str());
  }
  for (const Found& found : examination.found) report(host, run, found);
  if (subject.empty()) return conclude(host, run, COMPATRIX_SKIP, "", "the cell asks for nothing but torch");
  conclude_with(host, run, examination.found, subject);
}

int run(const compatrix_host* host, compatrix_run* evaluated) {
  Examination examination{
      .run = evaluated,
      .environment = static_cast<const compatrix_environment_1*>(host->service(evaluated, COMPATRIX_ENVIRONMENT_1)),
      .elf = static_cast<const compatrix_elf_1*>(host->service(evaluated, COMPATRIX_ELF_1))};
  if (examination.environment == nullptr || examination.elf == nullptr) {
    conclude(host, evaluated, COMPATRIX_ERROR, "", "this host lacks the environment or elf service; update compatrix");
    return 0;
  }
  try {
    evaluate(host, evaluated, examination);
    return 0;
  } catch (const FactsUnavailable&) {
    return 1;
  } catch (const std::exception& failure) {
    conclude(host, evaluated, COMPATRIX_ERROR, "", failure.what());
    return 0;
  }
}

constexpr compatrix_check kCheck{
    .struct_size = sizeof(compatrix_check),
    .id = "wheel_integrity",
    .summary = "archive, RECORD, METADATA, tags and promised glibc agree with what the wheel holds",
    .needs = COMPATRIX_NEEDS_FILES,
    .default_timeout_s = 120,
    .parameters = nullptr,
    .parameter_count = 0,
    .run = &run};
constexpr const compatrix_check* kChecks[] = {&kCheck};

}  // namespace
}  // namespace wheel_integrity

COMPATRIX_PLUGIN(
    "wheel_integrity", "0.1.0",
    "check wheel_integrity|0|120|archive, RECORD, METADATA, tags and promised glibc agree with what the wheel holds\n",
    wheel_integrity::kChecks)
