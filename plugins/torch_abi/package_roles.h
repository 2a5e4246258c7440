// Which files of a package the verdict follows: those that the cell's interpreter imports and the package's own code
// opens here. The others are listed and speak against nothing.
#pragma once

#include <string>
#include <vector>

#include "importable.h"
#include "judgement.h"

namespace torch_abi {

// A set of files of which the package needs one (packages.json), and which of the sets it is.
struct AlternativesOutcome {
  std::string package, of;           // "torchcodec", "FFmpeg major"
  std::string taken;                 // the member that loads, or the one that comes nearest
  bool loads = false;                // one of them does
  std::vector<std::string> members;  // that the package has, in its order
};

// What the package's own code says, laid over the outcomes of its files. `cuda` is torch's ("12.8", empty without).
// `judgement` may get an obstacle of the package as a whole.
std::vector<AlternativesOutcome> apply_package_data(Judgement& judgement, const Package& package,
                                                    const std::string& cuda);

// Says of each which member is taken and, where none loads, that one is enough.
void report_alternatives(const Cell& cell, const std::vector<AlternativesOutcome>& alternatives);

// A package that has modules for other interpreters only can't be imported, whatever dlopen would say of its files.
void apply_interpreter(Judgement& judgement, const Package& package, const Interpreter& interpreter,
                       const std::string& name);

}  // namespace torch_abi
