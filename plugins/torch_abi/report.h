// The words: findings, assumptions and remedies of a judgement.
#pragma once

#include <string>
#include <vector>

#include "cell.h"
#include "judgement.h"
#include "stable_shim.h"

namespace torch_abi {

// What the sentences are about.
struct Subject {
  std::string name;   // "sgl-kernel 0.3.21"
  std::string torch;  // "torch 2.10.0"
};

void report_findings(const Cell& cell, const Judgement& judgement, const std::vector<ShimUse>& uses);
void report_assumptions(const Cell& cell, const Judgement& judgement);
void report_remedies(const Cell& cell, const Judgement& judgement, const Subject& subject,
                     const std::vector<ShimUse>& uses);
void conclude(const Cell& cell, const Judgement& judgement, const Subject& subject);

}  // namespace torch_abi
