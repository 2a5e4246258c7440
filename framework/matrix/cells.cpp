#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "framework/matrix/matrix.h"
#include "framework/matrix/placeholders.h"

namespace compatrix {
namespace {

bool matches(const CellPattern& pattern, const Cell& cell) {
  return std::all_of(pattern.begin(), pattern.end(), [&](const auto& wanted) {
    const auto value = cell.value(wanted.first);
    return value && std::find(wanted.second.begin(), wanted.second.end(), *value) != wanted.second.end();
  });
}

// One choice of values: a value of one axis, or a linked row.
using Choice = std::vector<std::pair<std::string, std::string>>;

// Every cell continued by every choice.
std::vector<Cell> continued(const std::vector<Cell>& cells, const std::vector<Choice>& choices) {
  std::vector<Cell> longer;
  longer.reserve(cells.size() * choices.size());
  for (const Cell& cell : cells)
    for (const Choice& choice : choices) {
      longer.push_back(cell);
      longer.back().axes.insert(longer.back().axes.end(), choice.begin(), choice.end());
    }
  return longer;
}

bool is_linked(const Matrix& matrix, const std::string& axis) {
  return !matrix.linked.empty() && std::any_of(matrix.linked.front().begin(), matrix.linked.front().end(),
                                               [&](const auto& pair) { return pair.first == axis; });
}

}  // namespace

std::string Cell::id() const {
  std::string id;
  for (const auto& [name, value] : axes) id += (id.empty() ? "" : ",") + name + "=" + value;
  return id.empty() ? "cell" : id;
}

std::optional<std::string> Cell::value(const std::string& axis) const {
  for (const auto& [name, value] : axes)
    if (name == axis) return value;
  return std::nullopt;
}

std::vector<Cell> expand(const Matrix& matrix) {
  std::vector<Cell> cells(1);
  for (const Axis& axis : matrix.axes) {
    if (is_linked(matrix, axis.name)) continue;
    std::vector<Choice> choices;
    for (const std::string& value : axis.values) choices.push_back({{axis.name, value}});
    cells = continued(cells, choices);
  }
  // A row is one choice: the product of its axes' values would be far larger than what is asked for.
  if (!matrix.linked.empty()) cells = continued(cells, matrix.linked);
  for (Cell& cell : cells)
    for (const Exclusion& exclusion : matrix.exclude)
      if (!cell.excluded && matches(exclusion.where, cell)) cell.excluded = exclusion.reason;
  return cells;
}

Result<std::vector<std::string>> placeholders_of(const std::string& requirement) {
  std::vector<std::string> names;
  for (std::size_t open = requirement.find('{'); open != std::string::npos; open = requirement.find('{', open + 1)) {
    const std::size_t close = requirement.find('}', open);
    if (close == std::string::npos || close == open + 1)
      return Error{requirement, "a placeholder such as {torch} was expected"};
    names.push_back(requirement.substr(open + 1, close - open - 1));
  }
  return names;
}

std::vector<std::string> requirements_of(const Matrix& matrix, const Cell& cell) {
  std::vector<std::string> requirements = matrix.environment.requirements;
  for (std::string& requirement : requirements)
    // From left to right and past each value: what a value holds is never a placeholder, whatever the axes' order.
    for (std::size_t open = requirement.find('{'); open != std::string::npos; open = requirement.find('{', open)) {
      const std::size_t close = requirement.find('}', open);
      if (close == std::string::npos) break;
      const auto value = cell.value(requirement.substr(open + 1, close - open - 1));
      if (value) requirement.replace(open, close + 1 - open, *value);
      open += value ? value->size() : 1;
    }
  return requirements;
}

Result<std::optional<std::string>> index_of(const Matrix& matrix, const Cell& cell) {
  const auto name = cell.value("index");
  if (!name) return std::optional<std::string>();
  for (const auto& [index, raw] : matrix.indexes) {
    if (index != *name) continue;
    std::string address = raw;
    for (std::size_t open = address.find("${"); open != std::string::npos; open = address.find("${", open)) {
      const std::size_t close = address.find('}', open);
      if (close == std::string::npos)
        return Error{matrix.file.string(), fmt::format("index '{}': '${{' without its '}}'", index)};
      const std::string variable = address.substr(open + 2, close - open - 2);
      const char* value = std::getenv(variable.c_str());
      if (value == nullptr)
        return Error{matrix.file.string(),
                     fmt::format("index '{}' needs the environment variable {}, which is not set", index, variable)};
      address.replace(open, close + 1 - open, value);
      open += std::string_view(value).size();
    }
    return std::optional(address);
  }
  return Error{matrix.file.string(), fmt::format("'{}' is no name under indexes", *name)};
}

const Expectation* expectation_for(const Matrix& matrix, const Cell& cell, const std::string& check) {
  const Expectation* found = nullptr;
  for (const Expectation& expectation : matrix.expect)
    if (expectation.check == check && matches(expectation.where, cell)) found = &expectation;
  return found;
}

}  // namespace compatrix
