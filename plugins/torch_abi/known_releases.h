// Which of the torch releases that were looked at on this machine have everything that files ask of torch, and how
// large torch's data objects are in them. Evidence that grows with use: no status rests on it.
#pragma once

#include <string>
#include <vector>

#include "cell.h"
#include "judgement.h"

namespace torch_abi {

// For packages that miss functions of torch: one finding that names the releases which have all of them, and everything
// else that the files find in the cell's own torch.
void report_known_releases(const Cell& cell, const Judgement& judgement, const std::string& torch);

// Objects of torch that these files use and whose size differs between the release they were built with, as far as it
// was looked at, and the cell's: "vtable for c10::StorageImpl: 88 bytes in torch 2.8.0, 96 here".
std::vector<std::string> changed_sizes(const Cell& cell, const std::vector<std::string>& files,
                                       const std::vector<std::string>& built_with);

}  // namespace torch_abi
