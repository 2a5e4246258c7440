#include "framework/base/version.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace compatrix {
namespace {

constexpr std::size_t kLongestNumber = 18;  // decimal digits that fit 64 bits with room

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}
bool is_separator(char c) {
  return c == '.' || c == '-' || c == '_';
}

// Reads the grammar of PEP 440, appendix B, from left to right.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  [[nodiscard]] bool at_end() const { return at_ == text_.size(); }
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  std::optional<std::uint64_t> number() {
    std::size_t end = at_;
    while (end < text_.size() && is_digit(text_[end])) ++end;
    std::size_t begin = at_;
    while (begin + 1 < end && text_[begin] == '0') ++begin;
    if (end == at_ || end - begin > kLongestNumber) return std::nullopt;
    const std::uint64_t value = std::stoull(std::string(text_.substr(begin, end - begin)));
    at_ = end;
    return value;
  }

  // [-_.]? word [-_.]? number?, of the first word that fits; the number defaults to 0.
  std::optional<std::pair<std::size_t, std::uint64_t>> labelled(std::initializer_list<std::string_view> words) {
    const std::size_t begin = at_;
    if (is_separator(peek())) ++at_;
    std::size_t position = 0;
    for (const std::string_view word : words) {
      if (text_.compare(at_, word.size(), word) == 0) {
        at_ += word.size();
        if (is_separator(peek())) ++at_;  // also before nothing: "1.0a." is "1.0a0"
        if (!is_digit(peek())) return std::pair(position, std::uint64_t{0});
        if (const auto value = number()) return std::pair(position, *value);
      }
      ++position;
    }
    at_ = begin;
    return std::nullopt;
  }

  // "-N" as a post release.
  std::optional<std::uint64_t> implicit_post() {
    if (peek() != '-' || !is_digit(peek(1))) return std::nullopt;
    ++at_;
    return number();
  }

  std::optional<std::vector<std::string>> local() {
    std::vector<std::string> parts(1);
    for (; !at_end(); ++at_) {
      const char c = peek();
      if (is_separator(c)) {
        if (parts.back().empty()) return std::nullopt;
        parts.emplace_back();
      } else if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
        parts.back() += c;
      } else {
        return std::nullopt;
      }
    }
    if (parts.back().empty()) return std::nullopt;
    return parts;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

std::string prepared(std::string_view text) {
  const auto is_space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

// Release numbers without trailing zeros, which do not count in comparisons.
std::vector<std::uint64_t> significant(std::vector<std::uint64_t> release) {
  while (release.size() > 1 && release.back() == 0) release.pop_back();
  return release;
}

}  // namespace

Result<Version> Version::parse(std::string_view text) {
  const Error refused{std::string(text),
                      "is no version by PEP 440 (for instance 2.10.0, 2.10.0+cu130 or 2.12.0.dev20260226)"};
  const std::string plain = prepared(text);
  Scanner scan(plain);
  scan.take('v');
  Version version;
  auto number = scan.number();
  if (!number) return refused;
  if (scan.take('!')) {
    version.epoch_ = *number;
    number = scan.number();
    if (!number) return refused;
  }
  version.release_.push_back(*number);
  while (scan.peek() == '.' && is_digit(scan.peek(1))) {
    scan.take('.');
    number = scan.number();
    if (!number) return refused;
    version.release_.push_back(*number);
  }
  if (const auto pre = scan.labelled({"alpha", "beta", "preview", "pre", "rc", "a", "b", "c"})) {
    constexpr char kLetters[] = {'a', 'b', 'r', 'r', 'r', 'a', 'b', 'r'};
    version.pre_ = std::pair(kLetters[pre->first], pre->second);
  }
  if (const auto post = scan.implicit_post()) {
    version.post_ = post;
  } else if (const auto labelled = scan.labelled({"post", "rev", "r"})) {
    version.post_ = labelled->second;
  }
  if (const auto dev = scan.labelled({"dev"})) version.dev_ = dev->second;
  if (scan.take('+')) {
    const auto parts = scan.local();
    if (!parts) return refused;
    for (const std::string& part : *parts) {
      const bool numeric = std::all_of(part.begin(), part.end(), is_digit);
      if (numeric && part.size() > kLongestNumber) return refused;
      if (numeric)
        version.local_.emplace_back(std::uint64_t{std::stoull(part)});
      else
        version.local_.emplace_back(part);
    }
  }
  if (!scan.at_end()) return refused;
  return version;
}

std::string Version::public_text() const {
  std::string text = epoch_ != 0 ? fmt::format("{}!", epoch_) : "";
  for (std::size_t i = 0; i < release_.size(); ++i) text += fmt::format("{}{}", i == 0 ? "" : ".", release_[i]);
  if (pre_) text += fmt::format("{}{}", pre_->first == 'r' ? "rc" : std::string(1, pre_->first), pre_->second);
  if (post_) text += fmt::format(".post{}", *post_);
  if (dev_) text += fmt::format(".dev{}", *dev_);
  return text;
}

std::string Version::local() const {
  std::string text;
  for (const auto& part : local_) {
    if (!text.empty()) text += '.';
    text += std::holds_alternative<std::string>(part) ? std::get<std::string>(part)
                                                      : std::to_string(std::get<std::uint64_t>(part));
  }
  return text;
}

std::string Version::text() const {
  return local_.empty() ? public_text() : public_text() + "+" + local();
}
const std::vector<std::uint64_t>& Version::release() const {
  return release_;
}
bool Version::is_prerelease() const {
  return pre_.has_value() || dev_.has_value();
}

Version Version::without(Without parts) const {
  Version less = *this;
  less.local_.clear();
  if (parts == Without::local) return less;
  less.dev_.reset();
  less.post_.reset();
  return less;
}

// The order of PEP 440, "Summary of permitted suffixes and relative ordering": .devN, aN, bN, rcN, none, .postN.
std::strong_ordering Version::operator<=>(const Version& other) const {
  if (const auto order = epoch_ <=> other.epoch_; order != 0) return order;
  if (const auto order = significant(release_) <=> significant(other.release_); order != 0) return order;
  // A development release of nothing else comes before every pre-release; no pre-release at all comes after them.
  const auto pre_key = [](const Version& v) -> std::pair<int, std::pair<char, std::uint64_t>> {
    if (v.pre_) return {1, *v.pre_};
    return {!v.post_ && v.dev_ ? 0 : 2, {}};
  };
  if (const auto order = pre_key(*this) <=> pre_key(other); order != 0) return order;
  const auto post_key = [](const Version& v) { return std::pair(v.post_.has_value() ? 1 : 0, v.post_.value_or(0)); };
  if (const auto order = post_key(*this) <=> post_key(other); order != 0) return order;
  const auto dev_key = [](const Version& v) { return std::pair(v.dev_.has_value() ? 0 : 1, v.dev_.value_or(0)); };
  if (const auto order = dev_key(*this) <=> dev_key(other); order != 0) return order;
  // Local versions: none first; numbers after words; more parts after fewer.
  for (std::size_t i = 0; i < std::max(local_.size(), other.local_.size()); ++i) {
    if (i == local_.size()) return std::strong_ordering::less;
    if (i == other.local_.size()) return std::strong_ordering::greater;
    const bool left = std::holds_alternative<std::uint64_t>(local_[i]),
               right = std::holds_alternative<std::uint64_t>(other.local_[i]);
    if (left != right) return left ? std::strong_ordering::greater : std::strong_ordering::less;
    const auto order = left ? std::get<std::uint64_t>(local_[i]) <=> std::get<std::uint64_t>(other.local_[i])
                            : std::get<std::string>(local_[i]) <=> std::get<std::string>(other.local_[i]);
    if (order != 0) return order;
  }
  return std::strong_ordering::equal;
}

bool Version::operator==(const Version& other) const {
  return (*this <=> other) == 0;
}

}  // namespace compatrix
