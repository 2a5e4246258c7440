#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "framework/base/version.h"

namespace compatrix {
namespace {

constexpr std::array<std::string_view, 8> kOperators{"===", "~=", "==", "!=", "<=", ">=", "<", ">"};

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

// "2.9.*": epoch and release begin with the same numbers, missing ones counting as zero.
bool has_prefix(const Version& version, const std::string& prefix_text) {
  const auto prefix = Version::parse(prefix_text);
  if (!prefix) return false;
  const auto epoch_of = [](const Version& v) {
    const std::string text = v.public_text();
    const std::size_t mark = text.find('!');
    return mark == std::string::npos ? std::string("0") : text.substr(0, mark);
  };
  if (epoch_of(version) != epoch_of(*prefix)) return false;
  for (std::size_t i = 0; i < prefix->release().size(); ++i) {
    const std::uint64_t number = i < version.release().size() ? version.release()[i] : 0;
    if (number != prefix->release()[i]) return false;
  }
  return true;
}

// The release without its last number: what a compatible release (~=) must begin with.
std::string compatible_prefix(const Version& version) {
  const std::string text = version.public_text();
  std::string prefix = text.find('!') == std::string::npos ? "" : text.substr(0, text.find('!') + 1);
  for (std::size_t i = 0; i + 1 < version.release().size(); ++i)
    prefix += fmt::format("{}{}", i == 0 ? "" : ".", version.release()[i]);
  return prefix;
}

// Arbitrary equality compares text, case ignored; a version's own text is in lower case.
bool same_text(const std::string& wanted, const std::string& normal) {
  return std::equal(wanted.begin(), wanted.end(), normal.begin(), normal.end(),
                    [](unsigned char a, char b) { return std::tolower(a) == b; });
}

bool clause_holds(const std::string& op, const std::string& wanted, const Version& version) {
  if (op == "===") return same_text(wanted, version.text());
  if (wanted.ends_with(".*")) return has_prefix(version, wanted.substr(0, wanted.size() - 2)) == (op == "==");
  const Version bound = Version::parse(wanted).value();
  const Version open = version.without(Version::Without::local);
  // A local version counts only where the specifier itself names one.
  const Version plain = bound.local().empty() ? open : version;
  if (op == "==") return plain == bound;
  if (op == "!=") return plain != bound;
  if (op == "<=") return open <= bound;
  if (op == ">=") return open >= bound;
  if (op == "~=") return open >= bound && has_prefix(version, compatible_prefix(bound));
  // Exclusive comparisons leave out the bound's own pre-releases (<, the first of which is .dev0), post-releases and
  // local versions (>).
  if (op == "<")
    return version < (bound.is_prerelease() ? bound : Version::parse(bound.public_text() + ".dev0").value());
  const bool post_of_bound =
      version.is_postrelease() && !bound.is_postrelease() && version.without(Version::Without::post_and_dev) == bound;
  return version > bound && !post_of_bound && open != bound;
}

// What is wrong with a clause by the grammar of PEP 440, or nothing.
std::optional<std::string> fault_of(std::string_view op, const std::string& version) {
  if (op == "===")
    return version.empty() || version.find_first_of(" \t\r\n;)") != std::string::npos
               ? std::optional<std::string>("=== needs one word")
               : std::nullopt;
  const bool prefix = version.ends_with(".*");
  const bool equality = op == "==" || op == "!=";
  if (prefix && !equality) return ".* goes with == and != only";
  const std::string plain = prefix ? version.substr(0, version.size() - 2) : version;
  const auto parsed = Version::parse(plain);
  if (!parsed) return fmt::format("'{}' {}", plain, parsed.error().message);
  if (prefix && (parsed->is_prerelease() || parsed->is_postrelease() || !parsed->local().empty() ||
                 trimmed(plain).size() != plain.size()))
    return ".* follows release numbers only";
  if (!equality && !parsed->local().empty()) return "a local version (+...) goes with ==, != and === only";
  if (op == "~=" && parsed->release().size() < 2) return "~= needs at least two release numbers";
  return std::nullopt;
}

}  // namespace

Result<SpecifierSet> SpecifierSet::parse(std::string_view text) {
  SpecifierSet set;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string_view clause = trimmed(text.substr(at, end - at));
    at = end + 1;
    if (clause.empty()) continue;
    const auto op =
        std::find_if(kOperators.begin(), kOperators.end(), [&](std::string_view o) { return clause.starts_with(o); });
    if (op == kOperators.end())
      return Error{std::string(text),
                   fmt::format("\"{}\" begins with none of ===, ~=, ==, !=, <=, >=, <, > (PEP 440)", clause)};
    const std::string version(trimmed(clause.substr(op->size())));
    if (const auto fault = fault_of(*op, version))
      return Error{std::string(text), fmt::format("\"{}\": {}", clause, *fault)};
    set.clauses_.push_back({std::string(*op), version});
  }
  return set;
}

bool SpecifierSet::contains(const Version& version) const {
  return std::all_of(clauses_.begin(), clauses_.end(),
                     [&](const Clause& clause) { return clause_holds(clause.op, clause.version, version); });
}

std::string SpecifierSet::text() const {
  std::string text;
  for (const Clause& clause : clauses_) text += (text.empty() ? "" : ",") + clause.op + clause.version;
  return text;
}

}  // namespace compatrix
