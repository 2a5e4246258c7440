// What METADATA promises of torch against what is true of the files: a requirement that admits a torch beside which
// they can't load is too wide, one that forbids a torch beside which they load is too narrow.
#pragma once

#include <string>

#include "cell.h"
#include "judgement.h"

namespace torch_abi {

struct DeclaredTorch {
  std::string requirement;  // as METADATA has it; empty: it names no torch
  bool admits = true;       // this torch
};
// Requirements whose environment markers ask for an extra are no promise and are passed over.
DeclaredTorch declared_torch(const std::string& metadata, const std::string& torch_version);

// One finding for a package whose METADATA is wrong about this torch.
void report_declared_torch(const Cell& cell, const Judgement& judgement, const Package& package);

}  // namespace torch_abi
