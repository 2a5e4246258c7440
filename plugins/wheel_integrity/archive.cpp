#include <set>
#include <string>

#include "examination.h"
#include "framework/wheel/dist_info.h"

namespace wheel_integrity {
namespace {

// RECORD and its signatures can't list their own digest (PEP 376, PEP 427).
bool lists_itself(const std::string& path) {
  return path.ends_with(".dist-info/RECORD") || path.ends_with(".dist-info/RECORD.jws") ||
         path.ends_with(".dist-info/RECORD.p7s");
}

void examine_record(Examination& examination) {
  const compatrix_distribution& wheel = examination.wheel();
  if (*wheel.record == '\0') {
    examination.found.push_back({"corrupt-wheel", "record-missing", "", "the wheel has no RECORD", {}, true});
    return;
  }
  const auto record = compatrix::wheel::parse_record(wheel.record);
  if (!record) {
    examination.found.push_back({"corrupt-wheel", "record-unreadable", "", record.error().text(), {}, true});
    return;
  }
  std::set<std::string> listed;
  for (const auto& entry : *record) {
    if (auto path = compatrix::wheel::installed_path(entry.path)) listed.insert(std::move(*path));
    if (entry.sha256.empty() && !lists_itself(entry.path))
      examination.found.push_back(
          {"", "record-without-digest", entry.path, entry.path + " has no sha256 in RECORD", {}, false});
  }
  std::set<std::string> present;
  for (const std::string& path : examination.files()) present.insert(path);
  for (const std::string& path : present)
    if (!listed.contains(path) && !lists_itself(path))
      examination.found.push_back(
          {"corrupt-wheel", "record-incomplete", path, path + " is in the archive but not in RECORD", {}, true});
  for (const std::string& path : listed)
    if (!present.contains(path))
      examination.found.push_back(
          {"corrupt-wheel", "record-lists-absent-file", path, path + " is in RECORD but not in the archive", {}, true});
}

}  // namespace

std::vector<std::string> Examination::files() const {
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < environment->file_count(run, distribution); ++i)
    paths.emplace_back(environment->file(run, distribution, i)->path);
  return paths;
}

std::vector<std::string> Examination::shared_objects() const {
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < environment->file_count(run, distribution); ++i)
    if (const compatrix_file* file = environment->file(run, distribution, i); file->shared_object != 0)
      paths.emplace_back(file->path);
  return paths;
}

void examine_archive(Examination& examination) {
  for (std::size_t i = 0; i < examination.environment->defect_count(examination.run, examination.distribution); ++i) {
    const compatrix_defect* defect = examination.environment->defect(examination.run, examination.distribution, i);
    const std::string rule = defect->rule;
    const bool fatal = defect->ambiguous != 0 || rule == "record-hash-mismatch";
    examination.found.push_back(
        {fatal ? "corrupt-wheel" : "",
         rule,
         defect->entry,
         (*defect->entry != '\0' ? std::string(defect->entry) + ": " : std::string()) + defect->message,
         {{"offset", std::to_string(defect->offset)}},
         fatal});
  }
  examine_record(examination);
}

}  // namespace wheel_integrity
