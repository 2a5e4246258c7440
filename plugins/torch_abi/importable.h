// Which shared objects of a package the cell's interpreter would import: those whose name has one of its suffixes, and
// of several for one module the first in the importer's order.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cell.h"

namespace torch_abi {

struct Interpreter {
  std::string python;   // "3.11", "3.13t"
  std::string machine;  // "x86_64"
};
// The cell's.
Interpreter interpreter_of(const Cell& cell);

// The files that an `import` passes over, each with the reason as a participle: "named for CPython 3.10", "a module
// that foo.abi3.so is imported for instead". Others are imported, or are no modules at all.
std::map<std::string, std::string> passed_over(const std::vector<std::string>& files, const Interpreter& interpreter);

// Where a package has modules named for interpreters, and none of them for this one: who they are for, as "CPython 3.9
// and CPython 3.10". Empty where it has one for this interpreter, or none that is named for any.
std::string only_for_others(const std::vector<std::string>& files, const Interpreter& interpreter);

}  // namespace torch_abi
