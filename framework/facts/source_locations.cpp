#include "framework/facts/source_locations.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace compatrix::facts {
namespace {

constexpr std::size_t kLongestPath = 400;
constexpr std::size_t kMostDigits = 6;
constexpr std::size_t kAhead = kMostDigits + 3;  // `":`, the digits and what ends them

// The next `":` in [at, end), or end. Most of a large file is device code without any: whole blocks are passed over.
std::size_t find_mark(const char* bytes, std::size_t at, std::size_t end) {
  constexpr std::size_t kBlock = 64;
  for (; at + kBlock < end; at += kBlock) {
    unsigned char hit = 0;
    for (std::size_t i = 0; i < kBlock; ++i)
      hit |= static_cast<unsigned char>((bytes[at + i] == '"') & (bytes[at + i + 1] == ':'));
    if (hit != 0) break;
  }
  for (; at + 1 < end; ++at)
    if (bytes[at] == '"' && bytes[at + 1] == ':') return at;
  return end;
}

bool is_path_character(char c) {
  return static_cast<unsigned char>(c) > ' ' && static_cast<unsigned char>(c) < 0x7f && c != '"';
}

// The quoted path that ends just before `quote`.
std::string_view path_before(std::string_view window, std::size_t quote) {
  std::size_t begin = quote;
  while (begin > 0 && quote - begin < kLongestPath && is_path_character(window[begin - 1])) --begin;
  return begin > 0 && window[begin - 1] == '"' ? window.substr(begin, quote - begin) : std::string_view();
}

}  // namespace

void SourceLocationScanner::append(std::span<const std::byte> piece) {
  const auto* text = reinterpret_cast<const char*>(piece.data());
  window_.insert(window_.end(), text, text + piece.size());
  if (window_.size() > kAhead) scan(window_.size() - kAhead);
  if (scanned_ > kLongestPath) {
    window_.erase(window_.begin(), window_.begin() + static_cast<std::ptrdiff_t>(scanned_ - kLongestPath));
    scanned_ = kLongestPath;
  }
}

// Looks at every mark that begins before `end`; what follows it must be in the window.
void SourceLocationScanner::scan(std::size_t end) {
  constexpr std::string_view kInclude = "/include/";
  const std::string_view window(window_.data(), window_.size());
  for (std::size_t at = scanned_; (at = find_mark(window_.data(), at, std::min(end + 1, window_.size()))) < end; ++at) {
    std::uint32_t line = 0;
    std::size_t digit = at + 2;
    for (; digit < window.size() && digit < at + 2 + kMostDigits; ++digit) {
      if (std::isdigit(static_cast<unsigned char>(window[digit])) == 0) break;
      line = line * 10 + static_cast<std::uint32_t>(window[digit] - '0');
    }
    if (line == 0) continue;
    const std::string_view path = path_before(window, at);
    const std::size_t include = path.rfind(kInclude);
    if (include != std::string_view::npos && found_.size() < kMost)
      found_.insert({std::string(path.substr(include + kInclude.size())), line});
  }
  scanned_ = std::max(scanned_, end);
}

std::vector<SourceLocation> SourceLocationScanner::take() {
  window_.insert(window_.end(), kAhead, '\0');
  scan(window_.size() - kAhead);
  return {found_.begin(), found_.end()};
}

std::vector<SourceLocation> source_locations_of(std::span<const std::byte> file) {
  constexpr std::size_t kPiece = 1U << 20;
  SourceLocationScanner scanner;
  for (std::size_t at = 0; at < file.size(); at += kPiece)
    scanner.append(file.subspan(at, std::min(kPiece, file.size() - at)));
  return scanner.take();
}

}  // namespace compatrix::facts
