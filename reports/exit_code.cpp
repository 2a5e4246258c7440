#include "reports/report.h"

namespace compatrix {

int exit_code(const Report& report) {
  if (report.interrupted) return 130;
  bool incompatible = false, incomplete = false, evaluated = false;
  for (const ReportedCell& cell : report.cells) {
    incomplete |= !cell.error.empty();
    for (const ReportedResult& reported : cell.results) {
      const Status status = reported.result.status;
      incompatible |= !reported.broken_expectation.empty();
      evaluated |= status != Status::skip && status != Status::excluded;
      if (reported.expected) continue;
      incompatible |= status == Status::fail;
      incomplete |= status == Status::error || status == Status::crash || status == Status::timeout;
    }
  }
  if (incompatible) return 1;
  if (incomplete) return 3;
  return evaluated ? 0 : 4;
}

}  // namespace compatrix
