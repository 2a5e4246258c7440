#include "framework/wheel/lock.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "framework/base/text.h"
#include "framework/wheel/dist_info.h"
#include "framework/wheel/marker.h"

namespace compatrix::wheel {
namespace {

int minor_of(const std::string& dotted) {
  const std::size_t dot = dotted.find('.');
  int minor = -1;
  if (dot != std::string::npos) std::from_chars(dotted.data() + dot + 1, dotted.data() + dotted.size(), minor);
  return minor;
}

// How well a tag suits the target: smaller is better (the order of PEP 425 as installers apply it); nothing: not at
// all.
std::optional<int> tag_rank(const Tag& tag, const LockTarget& target) {
  constexpr int kPlatforms = 1000;
  const int python_minor = minor_of(target.python);
  int interpreter = -1;
  const std::string exact = "cp3" + std::to_string(python_minor);
  if (tag.python == exact && tag.abi == exact) {
    interpreter = 0;
  } else if (tag.python.starts_with("cp3") && tag.abi == "abi3") {
    int minor = -1;
    std::from_chars(tag.python.data() + 3, tag.python.data() + tag.python.size(), minor);
    if (minor >= 2 && minor <= python_minor) interpreter = 1 + python_minor - minor;
  } else if (tag.abi == "none" && tag.python == exact) {
    interpreter = 50;
  } else if (tag.abi == "none" && tag.python == "py3") {
    interpreter = 99;
  } else if (tag.abi == "none" && tag.python.starts_with("py3")) {
    int minor = -1;
    std::from_chars(tag.python.data() + 3, tag.python.data() + tag.python.size(), minor);
    if (minor >= 0 && minor <= python_minor) interpreter = minor == python_minor ? 98 : 100 + python_minor - minor;
  }
  if (interpreter < 0) return std::nullopt;
  int platform = -1;
  if (tag.platform == "any") platform = kPlatforms - 1;
  if (tag.platform == "linux_" + target.machine) platform = kPlatforms - 2;
  if (const auto glibc = promised_glibc(tag.platform); glibc && tag.platform.ends_with("_" + target.machine))
    if (const int minor = minor_of(*glibc); minor >= 0 && minor <= minor_of(target.glibc))
      platform = minor_of(target.glibc) - minor;
  if (platform < 0) return std::nullopt;
  return interpreter * kPlatforms + platform;
}

std::optional<int> wheel_rank(const std::string& file_name, const LockTarget& target) {
  const auto name = parse_wheel_name(file_name);
  if (!name) return std::nullopt;
  std::optional<int> best;
  for (const Tag& tag : name->tags)
    if (const auto rank = tag_rank(tag, target); rank && (!best || *rank < *best)) best = rank;
  return best;
}

std::string last_part(std::string_view location) {
  const std::size_t query = location.find_first_of("?#");
  location = location.substr(0, query);
  return std::string(location.substr(location.rfind('/') == std::string_view::npos ? 0 : location.rfind('/') + 1));
}

// File names in URLs are percent-encoded: "%2Bcu130".
std::string percent_decoded(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    int value = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16).ptr == text.data() + i + 3) {
      plain += static_cast<char>(value);
      i += 2;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

LockedWheel wheel_of(const toml::table& entry, const std::string& project, const std::string& version,
                     const std::filesystem::path& folder) {
  LockedWheel wheel{.project = project,
                    .version = version,
                    .file_name = {},
                    .url = entry["url"].value_or(std::string()),
                    .path = {},
                    .size = 0,
                    .sha256 = {}};
  if (wheel.url.starts_with("file://")) {
    wheel.path = percent_decoded(wheel.url.substr(7));
    wheel.url.clear();
  } else if (const auto path = entry["path"].value<std::string>()) {
    wheel.path = (folder / *path).lexically_normal();
  }
  wheel.file_name =
      entry["name"].value_or(percent_decoded(last_part(wheel.path.empty() ? wheel.url : wheel.path.string())));
  wheel.size = static_cast<std::uint64_t>(entry["size"].value_or(std::int64_t{0}));
  wheel.sha256 = entry["hashes"]["sha256"].value_or(std::string());
  return wheel;
}

// The best wheel of one package of the lock.
std::optional<LockedWheel> choose(const toml::table& package, const std::string& project,
                                  const std::filesystem::path& folder, const LockTarget& target) {
  std::vector<const toml::table*> candidates;
  if (const auto* wheels = package["wheels"].as_array())
    for (const auto& entry : *wheels)
      if (const auto* table = entry.as_table()) candidates.push_back(table);
  if (const auto* archive = package["archive"].as_table()) candidates.push_back(archive);
  std::optional<LockedWheel> best;
  int best_rank = 0;
  for (const toml::table* entry : candidates) {
    LockedWheel wheel = wheel_of(*entry, project, package["version"].value_or(std::string()), folder);
    const auto rank = wheel_rank(wheel.file_name, target);
    if (!rank || (best && *rank >= best_rank)) continue;
    // A direct wheel has no version in the lock; its name has one.
    if (wheel.version.empty()) wheel.version = parse_wheel_name(wheel.file_name).value().version;
    best_rank = *rank;
    best = std::move(wheel);
  }
  return best;
}

}  // namespace

Result<Lock> read_lock(const std::filesystem::path& file, const LockTarget& target) try {
  const toml::table document = toml::parse_file(file.string());
  const std::string format = document["lock-version"].value_or(std::string());
  if (!format.empty() && !format.starts_with("1."))
    return Error{file.string(), "has lock-version " + visible_utf8(format) + ", only 1.x is known; lock again"};
  const auto* packages = document["packages"].as_array();
  if (packages == nullptr) return Error{file.string(), "has no [[packages]]; a pylock.toml (PEP 751) was expected"};
  const MarkerValues values = marker_values(target.python, target.machine);
  Lock lock;
  for (const auto& entry : *packages) {
    const auto* package = entry.as_table();
    if (package == nullptr) continue;
    const std::string project = normalise_project((*package)["name"].value_or(std::string()));
    if (const auto marker = (*package)["marker"].value<std::string>()) {
      const auto applies = marker_holds(*marker, values);
      if (!applies) return Error{file.string(), applies.error().text()};
      if (!*applies) continue;
    }
    auto wheel = choose(*package, project, file.parent_path(), target);
    if (!wheel)
      return Error{
          file.string(),
          fmt::format("{} {} has no wheel for CPython {} on {} with glibc {}; build one, or take another version",
                      project, (*package)["version"].value_or(std::string()), target.python, target.machine,
                      target.glibc)};
    if (std::any_of(lock.wheels.begin(), lock.wheels.end(), [&](const auto& had) { return had.project == project; }))
      return Error{file.string(),
                   project + " is locked twice for this target, and nothing says which counts; lock again"};
    lock.wheels.push_back(std::move(*wheel));
  }
  return lock;
} catch (const toml::parse_error& failure) {
  const auto& at = failure.source().begin;
  return Error{fmt::format("{}:{}:{}", file.string(), at.line, at.column),
               fmt::format("is no TOML: {}; remove the file to lock again", failure.description())};
}

}  // namespace compatrix::wheel
