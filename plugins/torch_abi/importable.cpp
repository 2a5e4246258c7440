#include "importable.h"

#include <algorithm>

#include "finding.h"
#include "plugins/python_symbols/python_symbols.h"

namespace torch_abi {
namespace {

// Position among the importer's suffixes, or -1.
int rank(const std::string& tag, const std::vector<std::string>& tags) {
  const auto found = std::find(tags.begin(), tags.end(), tag);
  return found == tags.end() ? -1 : static_cast<int>(found - tags.begin());
}

std::string base_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

// Who a tag that this importer does not look for is for.
std::string other(const std::string& tag, const Interpreter& interpreter) {
  const std::string own = python_symbols::importer_tags(interpreter.python, interpreter.machine).front();
  if (tag == "abi3") return "the stable ABI, which a free-threaded CPython does not have";
  const std::string words = python_symbols::interpreter_of(tag);
  if (words != python_symbols::interpreter_of(own)) return words;
  return "another machine (" + tag + ")";
}

}  // namespace

Interpreter interpreter_of(const Cell& cell) {
  return {.python = cell.environment->python_version(cell.run), .machine = cell.environment->machine(cell.run)};
}

std::map<std::string, std::string> passed_over(const std::vector<std::string>& files, const Interpreter& interpreter) {
  const std::vector<std::string> tags = python_symbols::importer_tags(interpreter.python, interpreter.machine);
  std::map<std::string, std::string> reasons;
  std::map<std::string, std::pair<int, std::string>> imported;  // by module: rank and file
  for (const std::string& file : files) {
    const auto name = python_symbols::module_name(file);
    if (!name) continue;
    const int place = rank(name->tag, tags);
    if (place < 0) {
      reasons[file] = "named for " + other(name->tag, interpreter);
      continue;
    }
    const auto known = imported.find(name->module);
    if (known == imported.end()) {
      imported[name->module] = {place, file};
      continue;
    }
    const bool better = place < known->second.first;
    const std::string loser = better ? known->second.second : file;
    if (better) known->second = {place, file};
    reasons[loser] = "a module that " + base_name(known->second.second) + " is imported for instead";
  }
  return reasons;
}

std::string only_for_others(const std::vector<std::string>& files, const Interpreter& interpreter) {
  const std::vector<std::string> tags = python_symbols::importer_tags(interpreter.python, interpreter.machine);
  std::vector<std::string> others;
  for (const std::string& file : files) {
    const auto name = python_symbols::module_name(file);
    if (!name || name->tag.empty()) continue;
    if (rank(name->tag, tags) >= 0) return {};
    add_once(others, other(name->tag, interpreter));
  }
  return join(others, " and ");
}

}  // namespace torch_abi
