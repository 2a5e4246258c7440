#include <algorithm>
#include <array>

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

Version without_local(const Version& version) {
  return Version::parse(version.public_text()).value();
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

// Same epoch and release numbers: pre- and post-releases of one release.
bool same_release(const Version& a, const Version& b) {
  std::vector<std::uint64_t> left = a.release(), right = b.release();
  left.resize(std::max(left.size(), right.size()));
  right.resize(left.size());
  return left == right;
}

bool is_post(const Version& version) {
  return version.public_text().find(".post") != std::string::npos;
}

// The release without its last number: what a compatible release (~=) must begin with.
std::string compatible_prefix(const Version& version) {
  const std::string text = version.public_text();
  std::string prefix = text.find('!') == std::string::npos ? "" : text.substr(0, text.find('!') + 1);
  for (std::size_t i = 0; i + 1 < version.release().size(); ++i)
    prefix += fmt::format("{}{}", i == 0 ? "" : ".", version.release()[i]);
  return prefix;
}

bool clause_holds(const std::string& op, const std::string& wanted, const Version& version) {
  if (op == "===") return version.text() == wanted;
  if (wanted.ends_with(".*")) return has_prefix(version, wanted.substr(0, wanted.size() - 2)) == (op == "==");
  const Version bound = Version::parse(wanted).value();
  // A local version counts only where the specifier itself names one.
  const Version plain = bound.local().empty() ? without_local(version) : version;
  if (op == "==") return plain == bound;
  if (op == "!=") return plain != bound;
  const Version open = without_local(version);
  if (op == "<=") return open <= bound;
  if (op == ">=") return open >= bound;
  if (op == "~=") return open >= bound && has_prefix(version, compatible_prefix(bound));
  // Exclusive comparisons leave out pre-releases (<), post-releases and local versions (>) of the bound's own release.
  if (op == "<")
    return version < bound && (bound.is_prerelease() || !version.is_prerelease() || !same_release(version, bound));
  if (!(version > bound)) return false;
  if (!is_post(bound) && is_post(version) && same_release(version, bound)) return false;
  return version.local().empty() || !same_release(version, bound);
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
    const bool prefix = version.ends_with(".*");
    if (prefix && *op != "==" && *op != "!=")
      return Error{std::string(text), fmt::format("\"{}\": .* goes with == and != only", clause)};
    const auto parsed = Version::parse(prefix ? version.substr(0, version.size() - 2) : version);
    if (*op != "===" && !parsed) return parsed.error();
    if (*op == "~=" && parsed->release().size() < 2)
      return Error{std::string(text), fmt::format("\"{}\": ~= needs at least two release numbers", clause)};
    set.clauses_.push_back({std::string(*op), version});
  }
  return set;
}

bool SpecifierSet::contains(const Version& version, Prereleases prereleases) const {
  const bool names_prerelease = std::any_of(clauses_.begin(), clauses_.end(), [](const Clause& clause) {
    if (clause.op == "!=") return false;
    const std::string text =
        clause.version.ends_with(".*") ? clause.version.substr(0, clause.version.size() - 2) : clause.version;
    const auto parsed = Version::parse(text);
    return parsed && parsed->is_prerelease();
  });
  if (version.is_prerelease() && !names_prerelease && prereleases == Prereleases::as_named) return false;
  return std::all_of(clauses_.begin(), clauses_.end(),
                     [&](const Clause& clause) { return clause_holds(clause.op, clause.version, version); });
}

std::string SpecifierSet::text() const {
  std::string text;
  for (const Clause& clause : clauses_) text += (text.empty() ? "" : ",") + clause.op + clause.version;
  return text;
}

}  // namespace compatrix
