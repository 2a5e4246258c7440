// A matrix, evaluated: each cell's requirements are locked, its wheels made known, its checks put to workers. What
// happens is told through callbacks, one at a time; nothing is printed or written here but locks and facts.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "framework/base/result.h"
#include "framework/checks/plugin_library.h"
#include "framework/checks/verdict.h"
#include "framework/environment/fetcher.h"
#include "framework/matrix/matrix.h"

namespace compatrix {

struct RunOptions {
  std::filesystem::path store;    // facts
  std::filesystem::path locks;    // where the cells' locks are frozen
  std::filesystem::path program;  // the executable that serves as worker
  bool refresh = false;           // lock again although a lock is there
  bool offline = false;
  int workers = 2;
  std::function<bool()> interrupted = [] { return false; };
};

struct RunEvents {
  // The environment of a cell was made (JSON of it), or why it could not be.
  std::function<void(const Cell& cell, const std::string& environment_json, const std::string& error)> environment;
  std::function<void(const Cell& cell, const CheckResult& result)> result;
};

// The plugin of each check of the matrix, in the matrix's order; an Error names a check that no plugin has, suggests
// the near name, or says which plugin was refused.
Result<std::vector<const PluginFile*>> plugins_for(const Matrix& matrix, const PluginCatalogue& catalogue);

// Evaluates every cell that is not excluded. Cells whose environment can't be made get no results.
void run_matrix(const Matrix& matrix, const std::vector<Cell>& cells, const std::vector<const PluginFile*>& plugins,
                Fetcher& fetcher, const RunOptions& options, const RunEvents& events);

// The frozen lock of a cell: its name carries the cell's id and a digest of what was asked for, so that a changed
// matrix is locked anew.
std::filesystem::path lock_file(const std::filesystem::path& folder, const std::string& cell_id,
                                const wheel::LockRequest& request);

}  // namespace compatrix
