#include "framework/base/text.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace compatrix {
namespace {

// Edits between two words, case ignored: insertions, deletions, replacements, neighbours swapped.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  const auto same = [&](std::size_t i, std::size_t j) { return lower(a[i - 1]) == lower(b[j - 1]); };
  std::vector<std::vector<std::size_t>> edits(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) edits[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) edits[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      edits[i][j] = std::min({edits[i - 1][j] + 1, edits[i][j - 1] + 1, edits[i - 1][j - 1] + (same(i, j) ? 0 : 1)});
      if (i > 1 && j > 1 && same(i, j - 1) && same(i - 1, j))
        edits[i][j] = std::min(edits[i][j], edits[i - 2][j - 2] + 1);
    }
  return edits[a.size()][b.size()];
}

struct Decoded {
  std::uint32_t code = 0;
  std::size_t length = 0;  // 0: not valid UTF-8 here
};

// One code point by RFC 3629: no overlong forms, no surrogates, at most U+10FFFF.
Decoded decode(std::string_view bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || bytes.size() < length) return {};
  std::uint32_t code = lead & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fU);
  }
  constexpr std::array<std::uint32_t, 5> kSmallest{0, 0, 0x80, 0x800, 0x10000};
  if (code < kSmallest[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return {};
  return {code, length};
}

// Not allowed in XML 1.0, or able to reorder what a reader sees.
bool is_unwelcome(std::uint32_t code) {
  return (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7f && code < 0xa0) || (code & 0xfffe) == 0xfffe ||
         (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code == 0x2028 || code == 0x2029;
}

}  // namespace

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates) {
  const std::string* best = nullptr;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates)
    if (const std::size_t distance = edit_distance(word, candidate); distance < least) {
      least = distance;
      best = &candidate;
    }
  return best == nullptr ? std::nullopt : std::optional(*best);
}

std::string suggestion(std::string_view word, std::span<const std::string> candidates) {
  const auto near = nearest(word, candidates);
  return near ? fmt::format(", did you mean '{}'?", *near) : "";
}

std::string visible_utf8(std::string_view bytes) {
  std::string visible;
  visible.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    const Decoded decoded = decode(bytes.substr(at));
    if (decoded.length == 0) {
      visible += fmt::format("\\x{:02X}", static_cast<unsigned char>(bytes[at++]));
      continue;
    }
    if (is_unwelcome(decoded.code))
      visible += fmt::format("\\u{:04X}", decoded.code);
    else
      visible += bytes.substr(at, decoded.length);
    at += decoded.length;
  }
  return visible;
}

std::vector<std::vector<std::string_view>> table_rows(std::string_view text) {
  const auto parts = [](std::string_view whole, char separator) {
    std::vector<std::string_view> found;
    for (std::size_t at = 0; at < whole.size();) {
      const std::size_t end = std::min(whole.find(separator, at), whole.size());
      if (end != at) found.push_back(whole.substr(at, end - at));
      at = end + 1;
    }
    return found;
  };
  std::vector<std::vector<std::string_view>> rows;
  for (const std::string_view line : parts(text, '\n'))
    if (auto words = parts(line, ' '); !words.empty() && words.front().front() != '#') rows.push_back(std::move(words));
  return rows;
}

std::string byte_count(std::uint64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  constexpr std::array kUnits{"kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", value, value < 9.95 ? 1 : 0, kUnits[unit]);
}

}  // namespace compatrix
