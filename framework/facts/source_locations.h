// Header lines that the texts in a compiled file quote. A macro that puts __FILE__ and __LINE__ into its message leaves
// `…/include/ATen/core/ivalue.h":652` in the file's read-only data; which lines those are tells the release of the
// headers that the file was compiled with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace compatrix::facts {

struct SourceLocation {
  std::string header;  // what follows the last "/include/" of its path
  std::uint32_t line = 0;
  auto operator<=>(const SourceLocation&) const = default;
};

// Reads a file's bytes piece by piece, in order.
class SourceLocationScanner {
 public:
  void append(std::span<const std::byte> piece);
  // What was found by now, sorted; at most kMost of them.
  std::vector<SourceLocation> take();

  static constexpr std::size_t kMost = 8192;

 private:
  void scan(std::size_t end);

  std::vector<char> window_;  // the end of what was read, and the piece in hand
  std::size_t scanned_ = 0;   // of the window
  std::set<SourceLocation> found_;
};

std::vector<SourceLocation> source_locations_of(std::span<const std::byte> file);

}  // namespace compatrix::facts
