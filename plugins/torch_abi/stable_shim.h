// torch's stable C shim: functions of C linkage that a release keeps once it has them
// (torch/csrc/inductor/aoti_torch/c/shim.h and torch/csrc/stable/c/shim.h in each wheel). A file that asks nothing else
// of torch fits every release from that of its newest shim function on.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

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
  // The function that the fewest of the older releases have: the one that says from which release on.
  [[nodiscard]] std::string newest_of(const std::vector<std::string>& symbols) const;

 private:
  struct Span {
    std::size_t first = 0, last = 0;  // positions in releases_
  };
  std::vector<std::string> releases_;
  std::map<std::string, Span, std::less<>> spans_;
};

}  // namespace torch_abi
