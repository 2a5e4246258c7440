// The matrix file: axes, what excludes and links their values, the environment each cell asks for, the checks, and
// what is expected of them. Errors name file, line and column, show the line and suggest the near name.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/result.h"
#include "framework/checks/verdict.h"

namespace compatrix {

struct Axis {
  std::string name;
  std::vector<std::string> values;  // the scalars' own text: 1.10 stays "1.10"
};

// Axis names and the values they may have; an axis that is not named matches any value.
using CellPattern = std::vector<std::pair<std::string, std::vector<std::string>>>;

struct Exclusion {
  CellPattern where;
  std::string reason;
};

// What must be true of a check where the pattern matches. One that is no longer true fails the run.
struct Expectation {
  CellPattern where;
  std::string check;
  Status status = Status::pass;
  std::optional<Cause> cause;
  std::string reason;
  std::string issue;                 // link, or empty
  std::optional<std::string> until;  // ISO date; past it the expectation fails
  int line = 0;
};

struct CheckRequest {
  std::string id;
  std::vector<std::pair<std::string, std::string>> parameters;
};

struct EnvironmentRequest {
  std::string provider = "wheels";        // "wheels" or "prefix"
  std::vector<std::string> requirements;  // with {axis} placeholders
  std::vector<std::string> find_links;    // folders of wheels, relative to the matrix file
  std::string python;                     // path of an interpreter whose environment is meant (provider prefix)
};

struct Matrix {
  std::filesystem::path file;
  std::string name;
  std::vector<Axis> axes;
  std::vector<std::vector<std::pair<std::string, std::string>>> linked;  // rows of axes that move together
  std::vector<Exclusion> exclude;
  std::vector<std::pair<std::string, std::string>> indexes;  // name, URL with ${VARIABLES} not yet replaced
  EnvironmentRequest environment;
  std::vector<CheckRequest> checks;
  std::vector<Expectation> expect;
};

// One value for each axis, in the matrix's own order.
struct Cell {
  std::vector<std::pair<std::string, std::string>> axes;
  std::optional<std::string> excluded;  // the reason

  // "torch=2.10.0,kernels=sgl-kernel==0.3.21": what reports and filters use.
  [[nodiscard]] std::string id() const;
  [[nodiscard]] std::optional<std::string> value(const std::string& axis) const;
};

Result<Matrix> read_matrix(const std::filesystem::path& file);

// Every cell, linked rows and exclusions applied (excluded ones stay, marked), first axis slowest.
std::vector<Cell> expand(const Matrix& matrix);

// The requirements of a cell, placeholders replaced.
std::vector<std::string> requirements_of(const Matrix& matrix, const Cell& cell);

// The address of the cell's further index, when it has an `index` axis: ${VARIABLES} taken from the process
// environment; an unset one is an error that names it.
Result<std::optional<std::string>> index_of(const Matrix& matrix, const Cell& cell);

// The expectation that speaks of this check in this cell: of several that match, the last in the file.
const Expectation* expectation_for(const Matrix& matrix, const Cell& cell, const std::string& check);

}  // namespace compatrix
