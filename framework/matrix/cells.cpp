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

// A cell whose linked axes do not stand together in any row is none.
bool is_linked(const Matrix& matrix, const Cell& cell) {
  return matrix.linked.empty() || std::any_of(matrix.linked.begin(), matrix.linked.end(), [&](const auto& row) {
           return std::all_of(row.begin(), row.end(),
                              [&](const auto& pair) { return cell.value(pair.first) == pair.second; });
         });
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
    std::vector<Cell> longer;
    for (const Cell& cell : cells)
      for (const std::string& value : axis.values) {
        longer.push_back(cell);
        longer.back().axes.emplace_back(axis.name, value);
      }
    cells = std::move(longer);
  }
  std::erase_if(cells, [&](const Cell& cell) { return !is_linked(matrix, cell); });
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
    for (const auto& [name, value] : cell.axes) {
      const std::string placeholder = "{" + name + "}";
      for (std::size_t at = requirement.find(placeholder); at != std::string::npos;
           at = requirement.find(placeholder, at + value.size()))
        requirement.replace(at, placeholder.size(), value);
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
