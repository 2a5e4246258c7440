// Which torch a compiled file was built with, told from its assertion texts: torch's inline functions leave header
// names and line numbers in every file that uses them, and the lines move from release to release.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace torch_abi {

// Lines at which a header of torch asserts something: where each invocation begins and, on several lines, ends, for
// compilers differ in which of them __LINE__ is.
std::vector<std::uint32_t> assertion_lines(std::string_view header_text);

// One assertion text of a file.
struct Assertion {
  std::string header;
  std::uint32_t line = 0;
  auto operator<=>(const Assertion&) const = default;
};

// Releases of torch, and which assertions the headers of each have.
class AssertionTable {
 public:
  using Releases = std::uint64_t;  // a bit for each, in the order of names()

  // The form that data/make_assertion_lines writes. A malformed text is a mistake of the build: throws
  // std::runtime_error.
  static AssertionTable parse(std::string_view text);
  // The table that this plugin carries.
  static AssertionTable embedded();

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] bool has_release(std::string_view version) const;
  [[nodiscard]] bool has_header(const std::string& header) const { return headers_.contains(header); }
  [[nodiscard]] Releases releases_with(const Assertion& assertion) const;
  // A release that the table lacks, with the lines of such headers as are at hand.
  void add_release(const std::string& version, const std::map<std::string, std::vector<std::uint32_t>>& headers);

 private:
  std::vector<std::string> names_;
  std::map<std::string, std::map<std::uint32_t, Releases>, std::less<>> headers_;
};

// What the assertions of some files, taken together, say of the torch that they were built with.
struct BuildTorch {
  std::vector<std::string> releases;  // that explain the most of them; empty: nothing is known
  std::vector<Assertion> telling;     // that not all releases have
  [[nodiscard]] bool known() const { return !releases.empty(); }
  // Whether one of the releases is of this minor ("2.9").
  [[nodiscard]] bool fits(std::string_view minor) const;
  // "2.9" or "2.10 to 2.12"
  [[nodiscard]] std::string text() const;
};
BuildTorch build_torch_of(const std::vector<Assertion>& assertions, const AssertionTable& table);

// "2.9" of 2.9.1+cu128.
std::string minor_of(std::string_view version);
// Numerically, component by component.
bool older_minor(std::string_view a, std::string_view b);

}  // namespace torch_abi
