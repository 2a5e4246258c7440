// Versions and specifiers of Python distributions, to the letter of PEP 440: epochs, pre-, post- and development
// releases, local versions, and the order between them. Equal to the `packaging` library (tests/base).
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "framework/base/result.h"

namespace compatrix {

class Version {
 public:
  static Result<Version> parse(std::string_view text);

  [[nodiscard]] std::string text() const;         // normalised
  [[nodiscard]] std::string public_text() const;  // without the local version
  [[nodiscard]] std::string local() const;        // "cu130", or empty
  [[nodiscard]] const std::vector<std::uint64_t>& release() const;
  [[nodiscard]] bool is_prerelease() const;
  [[nodiscard]] bool is_postrelease() const { return post_.has_value(); }
  // The same version less some of its parts; the local version goes always.
  enum class Without { local, post_and_dev };
  [[nodiscard]] Version without(Without parts) const;

  std::strong_ordering operator<=>(const Version& other) const;
  bool operator==(const Version& other) const;

 private:
  std::uint64_t epoch_ = 0;
  std::vector<std::uint64_t> release_;
  std::optional<std::pair<char, std::uint64_t>> pre_;  // 'a', 'b' or 'r' (rc)
  std::optional<std::uint64_t> post_;
  std::optional<std::uint64_t> dev_;
  std::vector<std::variant<std::uint64_t, std::string>> local_;
};

// A comma-separated set such as ">=2.8,<2.16", "==2.9.*", "~=2.4", "===x". Empty: everything.
class SpecifierSet {
 public:
  static Result<SpecifierSet> parse(std::string_view text);
  // Pre-releases count like any version: which of several to prefer is the resolver's business.
  [[nodiscard]] bool contains(const Version& version) const;
  [[nodiscard]] std::string text() const;

 private:
  struct Clause {
    std::string op;
    std::string version;  // as written, for === and prefix matches
  };
  std::vector<Clause> clauses_;
};

}  // namespace compatrix
