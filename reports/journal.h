// The journal of a run: JSON lines, appended as things happen; every report is made from it, so a run that was
// killed still reports. Planned cells come first; a result is one write; synced at most once a second and at the end.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "framework/base/result.h"
#include "reports/report.h"

namespace compatrix {

class Journal {
 public:
  // Begins a new journal in place of an older one of that name (which is kept as NAME.previous until then).
  static Result<Journal> create(const std::filesystem::path& file);
  Journal(Journal&& other) noexcept;
  Journal& operator=(Journal&& other) noexcept;
  ~Journal();

  Result<Done> begin(const Report& planned);  // every cell with the checks planned in it, results empty
  Result<Done> environment(const std::string& cell, const std::string& environment_json, const std::string& error);
  Result<Done> result(const std::string& cell, const ReportedResult& result);
  Result<Done> end(double duration_s, bool interrupted);

 private:
  explicit Journal(int descriptor) : descriptor_(descriptor) {}
  Result<Done> append(const std::string& line, bool sync_now);
  int descriptor_ = -1;
  std::chrono::steady_clock::time_point synced_{};
};

// The report that a journal amounts to. A last line that was cut off is left out; a check that was planned and has no
// result gets status error, "not run: the run was interrupted".
Result<Report> read_journal(const std::filesystem::path& file);

}  // namespace compatrix
