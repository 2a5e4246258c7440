// Functions of C linkage and the releases of a project that have them, as tables made from the symbol tables of real
// wheels (data/make_symbol_spans): what a missing function says of the release that is needed.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace torch_abi {

// Which of a project's releases have which function.
class SymbolSpans {
 public:
  // The form that data/make_symbol_spans writes. A malformed text is a mistake of the build: throws
  // std::runtime_error.
  static SymbolSpans parse(std::string_view text);
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

}  // namespace torch_abi
