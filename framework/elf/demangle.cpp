#include "framework/elf/demangle.h"

#include <cctype>
#include <cstdlib>
#include <memory>
#include <utility>

#include <cxxabi.h>

namespace compatrix::elf {
namespace {

constexpr std::size_t kLongestDemangled = 4096;

// Walks a mangled <nested-name> or <unscoped-name>, only as far as is needed to find where it ends.
class EntityScanner {
 public:
  explicit EntityScanner(std::string_view rest) : rest_(rest) {}

  Entity scan() {
    if (take("N")) return scan_nested();
    // A global function: its source name, and template arguments if any.
    take("St");
    if (!skip_source_name()) return {};
    Entity entity{std::string(taken()), 0};
    while (take("B"))
      if (!skip_source_name()) return {};
    const std::size_t arguments = at_;
    if (peek() == 'I' && !skip_bracketed()) return {};
    entity.name += rest_.substr(arguments, at_ - arguments);
    return at_end() ? Entity{} : entity;
  }

 private:
  [[nodiscard]] bool at_end() const { return at_ >= rest_.size(); }
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < rest_.size() ? rest_[at_ + ahead] : '\0';
  }
  [[nodiscard]] std::string_view taken() const { return rest_.substr(0, at_); }
  bool take(std::string_view text) {
    if (rest_.substr(at_).substr(0, text.size()) != text) return false;
    at_ += text.size();
    return true;
  }

  bool skip_source_name() {
    std::size_t length = 0;
    if (!std::isdigit(static_cast<unsigned char>(peek()))) return false;
    while (std::isdigit(static_cast<unsigned char>(peek()))) {
      length = length * 10 + static_cast<std::size_t>(peek() - '0');
      if (length > rest_.size()) return false;
      ++at_;
    }
    at_ += length;
    return at_ <= rest_.size();
  }

  bool skip_substitution() {  // S_ S1_ St Sa Ss …
    if (!take("S")) return false;
    while (std::isdigit(static_cast<unsigned char>(peek())) || std::isupper(static_cast<unsigned char>(peek()))) ++at_;
    if (peek() == '_' || std::islower(static_cast<unsigned char>(peek()))) {
      ++at_;
      return true;
    }
    return false;
  }

  // From an opening letter to the E that closes it; source names inside are stepped over whole.
  bool skip_bracketed() {
    int depth = 0;
    while (!at_end()) {
      const char c = peek();
      if (std::isdigit(static_cast<unsigned char>(c))) {
        // In a literal (L…E) digits are a value, else the length of a name.
        if (literal_depth_ == depth && depth > 0) {
          ++at_;
        } else if (!skip_source_name()) {
          return false;
        }
        continue;
      }
      if (c == 'S') {
        if (!skip_substitution()) return false;
        continue;
      }
      if (c == 'T' && (peek(1) == '_' || std::isdigit(static_cast<unsigned char>(peek(1))))) {
        ++at_;
        while (std::isdigit(static_cast<unsigned char>(peek()))) ++at_;
        if (!take("_")) return false;
        continue;
      }
      if (c == 'L') {
        ++depth;
        ++at_;
        // The literal's type: a builtin letter, then its value; a named type is a source name.
        if (std::islower(static_cast<unsigned char>(peek()))) {
          ++at_;
          literal_depth_ = depth;
        } else if (std::isdigit(static_cast<unsigned char>(peek()))) {
          if (!skip_source_name()) return false;
          literal_depth_ = depth;
        } else if (peek() == 'N') {
          if (!skip_bracketed()) return false;
          literal_depth_ = depth;
        }
        continue;
      }
      if (c == 'N' || c == 'I' || c == 'X' || c == 'F' || c == 'J') ++depth;
      if (c == 'D' && (peek(1) == 't' || peek(1) == 'T')) {
        ++depth;
        ++at_;
      }
      if (c == 'E') {
        if (literal_depth_ == depth) literal_depth_ = 0;
        --depth;
      }
      ++at_;
      if (depth == 0) return true;
    }
    return false;
  }

  Entity scan_nested() {
    while (peek() == 'r' || peek() == 'V' || peek() == 'K' || peek() == 'R' || peek() == 'O') ++at_;
    Entity entity{"N", 0};
    std::size_t kept = at_;
    const auto keep = [&] {
      entity.name += rest_.substr(kept, at_ - kept);
      kept = at_;
    };
    while (!at_end()) {
      const char c = peek();
      keep();
      if (c == 'E') {
        return entity;
      }
      // Template arguments and ABI tags belong to the component before them.
      if (c != 'I' && c != 'B') entity.scope_size = entity.name.size();
      bool ok = true;
      if (std::isdigit(static_cast<unsigned char>(c))) {
        ok = skip_source_name();
      } else if (c == 'S') {
        ok = skip_substitution();
      } else if (c == 'I') {
        ok = skip_bracketed();
      } else if ((c == 'C' || c == 'D') && std::isdigit(static_cast<unsigned char>(peek(1)))) {
        entity.name += c;  // C1 and C2, D0 to D2 are one entity
        at_ += 2;
        kept = at_;
      } else if (c == 'B') {  // ABI tag
        ++at_;
        ok = skip_source_name();
        kept = at_;
      } else if (std::islower(static_cast<unsigned char>(c)) && std::isalpha(static_cast<unsigned char>(peek(1)))) {
        at_ += 2;  // operator name
      } else {
        ok = false;
      }
      if (!ok) return {};
    }
    return {};
  }

  std::string_view rest_;
  std::size_t at_ = 0;
  int literal_depth_ = 0;
};

}  // namespace

std::string demangle(const std::string& name) {
  if (name.size() > kLongestDemangled || !name.starts_with("_Z")) return name;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> readable(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && readable ? std::string(readable.get()) : name;
}

std::string without_string_abi(std::string readable) {
  constexpr std::pair<std::string_view, std::string_view> kSpellings[] = {
      {"[abi:cxx11]", ""},
      {"std::__cxx11::", "std::"},
      {"std::basic_string<char, std::char_traits<char>, std::allocator<char> >", "std::string"}};
  for (const auto& [spelled, plain] : kSpellings)
    for (std::size_t at = readable.find(spelled); at != std::string::npos; at = readable.find(spelled, at))
      readable.replace(at, spelled.size(), plain);
  return readable;
}

Entity entity_of(std::string_view mangled) {
  if (!mangled.starts_with("_Z")) return {};
  mangled.remove_prefix(2);
  // Virtual tables, type information and its names are about the class that follows.
  for (const std::string_view special : {"TV", "TI", "TS"})
    if (mangled.starts_with(special)) mangled.remove_prefix(2);
  return EntityScanner(mangled).scan();
}

}  // namespace compatrix::elf
