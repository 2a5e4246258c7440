// torch's stable C shim: functions of C linkage that a release keeps once it has them
// (torch/csrc/inductor/aoti_torch/c/shim.h and torch/csrc/stable/c/shim.h in each wheel). A file that asks nothing else
// of torch fits every release from that of its newest shim function on.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "judgement.h"

namespace torch_abi {

// Whether the shim's functions are named like this.
inline bool is_shim_name(std::string_view symbol) {
  return symbol.starts_with("aoti_torch_") || symbol.starts_with("torch_");
}

// Which releases have which function of the shim.
class ShimTable {
 public:
  // The form that data/make_shim_symbols writes. A malformed text is a mistake of the build: throws
  // std::runtime_error.
  static ShimTable parse(std::string_view text);
  // The table that this plugin carries.
  static ShimTable embedded();

  // The releases that were looked at, oldest first.
  [[nodiscard]] const std::vector<std::string>& releases() const { return releases_; }
  [[nodiscard]] bool has(std::string_view symbol) const { return spans_.contains(symbol); }
  // Those of them that have all these functions, oldest first; a function that the table lacks is in none.
  [[nodiscard]] std::vector<std::string> releases_with(const std::vector<std::string>& symbols) const;
  // The function that came last; empty where the table has none of them.
  [[nodiscard]] std::string newest_of(const std::vector<std::string>& symbols) const;

 private:
  struct Span {
    std::size_t first = 0, last = 0;  // positions in releases_
  };
  [[nodiscard]] std::size_t position(std::string_view release) const;

  std::vector<std::string> releases_;
  std::map<std::string, Span, std::less<>> spans_;
};

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
