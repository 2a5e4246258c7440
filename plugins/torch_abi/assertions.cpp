#include "assertions.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <stdexcept>

#include "assertion_lines.h"

namespace torch_abi {
namespace {

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Where the parenthesis at `open` is closed; strings and character constants are passed over.
std::size_t closing(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      for (++at; at < text.size() && text[at] != c && text[at] != '\n'; ++at)
        if (text[at] == '\\') ++at;
    } else if (c == '(') {
      ++depth;
    } else if (c == ')' && --depth == 0) {
      return at;
    }
  }
  return open;
}

template <class Visit>
void for_each_word(std::string_view line, const Visit& visit) {
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    if (end != at) visit(line.substr(at, end - at));
    at = end + 1;
  }
}

std::uint32_t number(std::string_view word) {
  std::uint32_t value = 0;
  const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (failure != std::errc() || end != word.data() + word.size())
    throw std::runtime_error("assertion_lines.txt: a line number was expected, not " + std::string(word));
  return value;
}

}  // namespace

std::vector<std::uint32_t> assertion_lines(std::string_view text) {
  std::vector<std::uint32_t> lines;
  std::size_t counted = 0;
  std::uint32_t line = 1;
  const auto line_at = [&](std::size_t offset) {
    line += static_cast<std::uint32_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(counted),
                                                  text.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
    counted = offset;
    return line;
  };
  for (std::size_t at = text.find("ASSERT"); at != std::string_view::npos; at = text.find("ASSERT", at + 1)) {
    std::size_t begin = at, end = at;
    while (begin > 0 && is_word_character(text[begin - 1])) --begin;
    while (end < text.size() && is_word_character(text[end])) ++end;
    if (end == text.size() || text[end] != '(') continue;
    const std::uint32_t first = line_at(begin);
    lines.push_back(first);
    const std::size_t close = closing(text, end);
    const auto more = static_cast<std::uint32_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(begin),
                                                            text.begin() + static_cast<std::ptrdiff_t>(close), '\n'));
    if (more != 0) lines.push_back(first + more);
  }
  std::sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  return lines;
}

AssertionTable AssertionTable::parse(std::string_view text) {
  AssertionTable table;
  std::string header;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (line.empty() || line.front() == '#') continue;
    if (line.starts_with("releases ")) {
      for_each_word(line.substr(9), [&](std::string_view word) { table.names_.emplace_back(word); });
    } else if (line.starts_with("header ")) {
      header = line.substr(7);
    } else {
      const std::size_t colon = line.find(':');
      if (colon == std::string_view::npos || header.empty())
        throw std::runtime_error("assertion_lines.txt: releases, a colon and lines were expected");
      Releases releases = 0;
      for_each_word(line.substr(0, colon), [&](std::string_view word) {
        const auto place = std::find(table.names_.begin(), table.names_.end(), word);
        if (place == table.names_.end() || place - table.names_.begin() >= 63)
          throw std::runtime_error("assertion_lines.txt: unknown release " + std::string(word));
        releases |= Releases{1} << (place - table.names_.begin());
      });
      for_each_word(line.substr(colon + 1),
                    [&](std::string_view word) { table.headers_[header][number(word)] |= releases; });
    }
  }
  return table;
}

AssertionTable AssertionTable::embedded() {
  return parse(kAssertionLines);
}

bool AssertionTable::has_release(std::string_view version) const {
  return std::find(names_.begin(), names_.end(), version) != names_.end();
}

AssertionTable::Releases AssertionTable::releases_with(const Assertion& assertion) const {
  const auto header = headers_.find(assertion.header);
  if (header == headers_.end()) return 0;
  const auto line = header->second.find(assertion.line);
  return line == header->second.end() ? 0 : line->second;
}

void AssertionTable::add_release(const std::string& version,
                                 const std::map<std::string, std::vector<std::uint32_t>>& headers) {
  const Releases bit = Releases{1} << names_.size();
  names_.push_back(version);
  for (const auto& [header, lines] : headers)
    for (const std::uint32_t line : lines) headers_[header][line] |= bit;
}

bool BuildTorch::fits(std::string_view minor) const {
  return std::any_of(releases.begin(), releases.end(),
                     [&](const std::string& release) { return minor_of(release) == minor; });
}

std::string BuildTorch::text() const {
  const std::string first = minor_of(releases.front()), last = minor_of(releases.back());
  return first == last ? first : first + " to " + last;
}

BuildTorch build_torch_of(const std::vector<Assertion>& assertions, const AssertionTable& table) {
  const std::size_t count = table.names().size();
  std::vector<std::size_t> explained(count, 0);
  BuildTorch build;
  for (const Assertion& assertion : assertions) {
    const AssertionTable::Releases releases = table.releases_with(assertion);
    if (releases == 0 || static_cast<std::size_t>(std::popcount(releases)) == count) continue;
    build.telling.push_back(assertion);
    for (std::size_t i = 0; i < count; ++i) explained[i] += releases >> i & 1;
  }
  if (build.telling.empty()) return build;
  const std::size_t most = *std::max_element(explained.begin(), explained.end());
  for (std::size_t i = 0; i < count; ++i)
    if (explained[i] == most) build.releases.push_back(table.names()[i]);
  std::sort(build.releases.begin(), build.releases.end(),
            [](const std::string& a, const std::string& b) { return older_minor(a, b); });
  return build;
}

std::string minor_of(std::string_view version) {
  const std::size_t first = version.find('.');
  return std::string(
      version.substr(0, first == std::string_view::npos ? first : version.find_first_not_of("0123456789", first + 1)));
}

bool older_minor(std::string_view a, std::string_view b) {
  const auto numbers = [](std::string_view version) {
    std::pair<int, int> pair{0, 0};
    const std::string minor = minor_of(version);
    const std::size_t dot = std::min(minor.find('.'), minor.size());
    std::from_chars(minor.data(), minor.data() + dot, pair.first);
    if (dot < minor.size()) std::from_chars(minor.data() + dot + 1, minor.data() + minor.size(), pair.second);
    return pair;
  };
  return numbers(a) < numbers(b);
}

}  // namespace torch_abi
