#include "python_api.h"

#include <algorithm>
#include <optional>

#include "causes.h"
#include "plugins/python_symbols/python_symbols.h"

namespace torch_abi {

using python_symbols::Minor;
using python_symbols::SymbolTable;

std::string python_sentence(const Obstacle& obstacle) {
  const std::string span = python_symbols::availability(SymbolTable::embedded(), obstacle.symbol);
  return obstacle.symbol + " is not defined by this interpreter" + (span.empty() ? "" : "; it is there " + span);
}

std::string python_remedy(const Judgement& judgement, const std::string& package, const std::string& python) {
  std::optional<Minor> oldest, newest;
  bool missing = false;
  for (const Obstacle& obstacle : judgement.obstacles) {
    if (obstacle.cause != kPythonAbi || !judgement.counts(obstacle)) continue;
    missing = true;
    const python_symbols::Symbol* symbol = SymbolTable::embedded().find(obstacle.symbol);
    if (symbol == nullptr) continue;
    const std::optional<Minor> first = symbol->first ? symbol->first : symbol->stable_since;
    if (first && *first > SymbolTable::embedded().oldest()) oldest = std::max(oldest, first);
    if (symbol->last) newest = newest ? std::min(*newest, *symbol->last) : *symbol->last;
  }
  if (!missing) return {};
  std::string other;
  if (oldest && newest && *oldest > *newest) oldest = newest = std::nullopt;  // no release has all of them
  if (oldest && *oldest > python_symbols::parse_minor(python)) other = "CPython " + oldest->text() + " or newer";
  if (newest && *newest < python_symbols::parse_minor(python)) other = "CPython " + newest->text() + " or older";
  return "take a build of " + package + " for CPython " + python + (other.empty() ? "" : ", or " + other);
}

}  // namespace torch_abi
