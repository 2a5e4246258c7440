#include "framework/wheel/marker.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "framework/base/version.h"
#include "framework/bytes/byte_view.h"

namespace compatrix::wheel {
namespace {

constexpr int kDeepest = 64;  // nested parentheses

// Recursive descent over PEP 508's grammar: or, and, comparison.
class MarkerParser {
 public:
  MarkerParser(std::string_view text, const MarkerValues& values) : text_(text), values_(values) {}

  bool parse() {
    const bool holds = parse_or();
    skip_blanks();
    if (at_ != text_.size()) refuse("'and', 'or' or the end was expected");
    return holds;
  }

 private:
  struct Operand {
    std::string value;
    std::string variable;  // its name, or empty for a literal
  };

  [[noreturn]] void refuse(const std::string& expected) const { throw FormatError(at_, expected); }
  void skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool take_word(std::string_view word) {
    skip_blanks();
    const std::size_t end = at_ + word.size();
    if (text_.substr(at_, word.size()) != word) return false;
    if (end < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[end])) != 0 || text_[end] == '_'))
      return false;
    at_ = end;
    return true;
  }

  bool parse_or() {
    bool holds = parse_and();
    while (take_word("or")) holds = parse_and() || holds;
    return holds;
  }
  bool parse_and() {
    bool holds = parse_one();
    while (take_word("and")) holds = parse_one() && holds;
    return holds;
  }
  bool parse_one() {
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == '(') {
      if (++depth_ > kDeepest) refuse("fewer nested parentheses were expected");
      ++at_;
      const bool holds = parse_or();
      skip_blanks();
      if (at_ >= text_.size() || text_[at_] != ')') refuse("')' was expected");
      ++at_;
      --depth_;
      return holds;
    }
    const Operand left = parse_operand();
    const std::string op = parse_operator();
    const Operand right = parse_operand();
    return compare(left, op, right);
  }

  Operand parse_operand() {
    skip_blanks();
    if (at_ >= text_.size()) refuse("a variable or a quoted string was expected");
    if (const char quote = text_[at_]; quote == '\'' || quote == '"') {
      const std::size_t close = text_.find(quote, at_ + 1);
      if (close == std::string_view::npos) refuse("the closing quote is missing");
      Operand literal{.value = std::string(text_.substr(at_ + 1, close - at_ - 1)), .variable = {}};
      at_ = close + 1;
      return literal;
    }
    std::size_t end = at_;
    while (end < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[end])) != 0 || text_[end] == '_' || text_[end] == '.'))
      ++end;
    const std::string name(text_.substr(at_, end - at_));
    const auto known = values_.find(name);
    if (known == values_.end()) refuse(fmt::format("a marker variable was expected, not '{}'", name));
    at_ = end;
    return {.value = known->second, .variable = name};
  }

  std::string parse_operator() {
    skip_blanks();
    for (const std::string_view op : {"===", "==", "~=", "!=", "<=", ">=", "<", ">"})
      if (text_.substr(at_, op.size()) == op) {
        at_ += op.size();
        return std::string(op);
      }
    if (take_word("in")) return "in";
    if (take_word("not")) {
      if (!take_word("in")) refuse("'in' was expected after 'not'");
      return "not in";
    }
    refuse("a comparison was expected");
  }

  // Versions compare as versions where both sides are some and the operator makes a specifier; else as strings.
  bool compare(const Operand& left, const std::string& op, const Operand& right) const {
    if (op == "in") return right.value.find(left.value) != std::string::npos;
    if (op == "not in") return right.value.find(left.value) == std::string::npos;
    const auto specifier = SpecifierSet::parse(op + right.value);
    const auto version = Version::parse(left.value);
    if (specifier && version && !right.value.empty() && left.variable != "platform_machine")
      return specifier->contains(*version);
    if (op == "==" || op == "===") return left.value == right.value;
    if (op == "!=") return left.value != right.value;
    if (op == "<") return left.value < right.value;
    if (op == ">") return left.value > right.value;
    if (op == "<=") return left.value <= right.value;
    if (op == ">=") return left.value >= right.value;
    refuse("~= compares versions only");
  }

  std::string_view text_;
  const MarkerValues& values_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

MarkerValues marker_values(const std::string& python, const std::string& machine) {
  return {{"python_version", python},
          {"python_full_version", python + ".0"},
          {"os_name", "posix"},
          {"sys_platform", "linux"},
          {"platform_machine", machine},
          {"platform_system", "Linux"},
          {"platform_release", ""},
          {"platform_version", ""},
          {"platform_python_implementation", "CPython"},
          {"implementation_name", "cpython"},
          {"implementation_version", python + ".0"},
          {"extra", ""},
          // Of lock files (PEP 751): what was chosen when they were made; nothing here.
          {"extras", ""},
          {"dependency_groups", ""}};
}

Result<bool> marker_holds(std::string_view marker, const MarkerValues& values) try {
  return MarkerParser(marker, values).parse();
} catch (const FormatError& defect) {
  return Error{"marker " + std::string(marker), defect.what()};
}

}  // namespace compatrix::wheel
