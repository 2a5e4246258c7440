// torch's stable C shim: functions of C linkage that a release keeps once it has them
// (torch/csrc/inductor/aoti_torch/c/shim.h and torch/csrc/stable/c/shim.h in each wheel). A file that asks nothing else
// of torch fits every release from that of its newest shim function on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "judgement.h"
#include "symbol_spans.h"

namespace torch_abi {

// Whether the shim's functions are named like this.
inline bool is_shim_name(std::string_view symbol) {
  return symbol.starts_with("aoti_torch_") || symbol.starts_with("torch_");
}

// Which torch releases have which function of the shim: the table that this plugin carries.
SymbolSpans shim_table();

// Functions of the shim that a file asks for; empty where it asks for other parts of torch too, or for nothing.
std::vector<std::string> shim_functions_only(const std::vector<std::string_view>& undefined);

// Files that use nothing of torch but the shim, and that fit the same releases.
struct ShimUse {
  std::vector<std::string> files;
  std::vector<std::string> releases;  // that have all they ask for, of those in the table
  bool open_ended = false;            // the newest of the table is among them
  std::string newest;                 // the function that decides from which release on
  std::vector<std::string> unknown;   // functions that no release of the table has
  std::vector<std::string> cuda;      // libraries of the CUDA toolkit that they need
  // "torch 2.11.0 or later", "torch 2.4.0 to 2.7.1"; empty where no release is known to have all.
  [[nodiscard]] std::string text() const;
};
std::vector<ShimUse> shim_uses(const Cell& cell, const Judgement& judgement);

void report_shim_uses(const Cell& cell, const std::vector<ShimUse>& uses);

}  // namespace torch_abi
