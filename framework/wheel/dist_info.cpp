#include "framework/wheel/dist_info.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

namespace compatrix::wheel {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

// The headers of an RFC 822-like text, up to the first empty line; a line that begins with a blank continues the one
// before.
std::vector<std::pair<std::string, std::string>> headers_of(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> headers;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) break;
    if (line.front() == ' ' || line.front() == '\t') {
      if (!headers.empty()) headers.back().second += "\n" + std::string(trimmed(line));
      continue;
    }
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos) headers.emplace_back(line.substr(0, colon), trimmed(line.substr(colon + 1)));
  }
  return headers;
}

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-';
}

}  // namespace

std::string normalise_project(std::string_view name) {
  std::string normal;
  for (const char c : name) {
    const bool separator = c == '-' || c == '_' || c == '.';
    if (separator && (normal.empty() || normal.back() != '-')) normal += '-';
    if (!separator) normal += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return normal;
}

std::string Tag::text() const {
  return python + "-" + abi + "-" + platform;
}

Result<WheelName> parse_wheel_name(std::string_view file_name) {
  const Error refused{std::string(file_name),
                      "is no wheel's file name (name-version[-build]-python-abi-platform.whl, PEP 427)"};
  if (!file_name.ends_with(".whl")) return refused;
  const std::vector<std::string> parts = split(file_name.substr(0, file_name.size() - 4), '-');
  if (parts.size() != 5 && parts.size() != 6) return refused;
  if (std::any_of(parts.begin(), parts.end(), [](const std::string& p) { return p.empty(); })) return refused;
  WheelName name{.project = parts[0], .version = parts[1], .build = parts.size() == 6 ? parts[2] : "", .tags = {}};
  const std::size_t first = parts.size() - 3;
  for (const std::string& python : split(parts[first], '.'))
    for (const std::string& abi : split(parts[first + 1], '.'))
      for (const std::string& platform : split(parts[first + 2], '.')) name.tags.push_back({python, abi, platform});
  return name;
}

std::optional<std::string> promised_glibc(std::string_view platform_tag) {
  constexpr std::array<std::pair<std::string_view, const char*>, 3> kLegacy{
      {{"manylinux1_", "2.5"}, {"manylinux2010_", "2.12"}, {"manylinux2014_", "2.17"}}};
  for (const auto& [prefix, glibc] : kLegacy)
    if (platform_tag.starts_with(prefix)) return glibc;
  constexpr std::string_view kPrefix = "manylinux_";
  if (!platform_tag.starts_with(kPrefix)) return std::nullopt;
  const std::vector<std::string> parts = split(platform_tag.substr(kPrefix.size()), '_');
  const auto numeric = [](const std::string& p) {
    return !p.empty() && p.find_first_not_of("0123456789") == std::string::npos;
  };
  if (parts.size() < 3 || !numeric(parts[0]) || !numeric(parts[1])) return std::nullopt;
  return parts[0] + "." + parts[1];
}

Result<Requirement> parse_requirement(std::string_view text) {
  const Error refused{
      std::string(text),
      "is no requirement by PEP 508 (for instance torch==2.10.0 or name[extra]>=1; python_version<'3.12')"};
  std::string_view rest = trimmed(text);
  Requirement requirement;
  std::size_t end = 0;
  while (end < rest.size() && is_name_character(rest[end])) ++end;
  const auto ends_a_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  if (end == 0 || !ends_a_name(rest.front()) || !ends_a_name(rest[end - 1])) return refused;
  requirement.project = normalise_project(rest.substr(0, end));
  rest = trimmed(rest.substr(end));
  if (rest.starts_with('[')) {
    const std::size_t close = rest.find(']');
    if (close == std::string_view::npos) return refused;
    for (const std::string& extra : split(rest.substr(1, close - 1), ','))
      requirement.extras.push_back(normalise_project(trimmed(extra)));
    rest = trimmed(rest.substr(close + 1));
  }
  if (const std::size_t semicolon = rest.find(rest.starts_with('@') ? " ;" : ";");
      semicolon != std::string_view::npos) {
    requirement.marker = trimmed(rest.substr(rest.find(';', semicolon) + 1));
    rest = trimmed(rest.substr(0, semicolon));
  }
  if (rest.starts_with('@')) {
    requirement.url = trimmed(rest.substr(1));
    return requirement;
  }
  if (rest.starts_with('(') && rest.ends_with(')')) rest = trimmed(rest.substr(1, rest.size() - 2));
  if (!rest.empty() && std::string_view("=<>!~").find(rest.front()) == std::string_view::npos) return refused;
  requirement.specifiers = rest;
  return requirement;
}

Result<Metadata> parse_metadata(std::string_view text) {
  Metadata metadata;
  for (const auto& [key, value] : headers_of(text)) {
    if (key == "Name") metadata.name = value;
    if (key == "Version") metadata.version = value;
    if (key == "Requires-Dist") metadata.requires_dist.push_back(value);
    if (key == "Requires-Python") metadata.requires_python = value;
  }
  if (metadata.name.empty() || metadata.version.empty()) return Error{"METADATA", "has no Name or no Version"};
  return metadata;
}

Result<WheelInfo> parse_wheel_info(std::string_view text) {
  WheelInfo info;
  for (const auto& [key, value] : headers_of(text)) {
    if (key == "Wheel-Version") info.wheel_version = value;
    if (key == "Root-Is-Purelib") info.root_is_purelib = value == "true";
    if (key == "Tag") info.tags.push_back(value);
  }
  if (info.wheel_version.empty()) return Error{"WHEEL", "has no Wheel-Version"};
  return info;
}

Result<std::vector<RecordEntry>> parse_record(std::string_view text) {
  std::vector<RecordEntry> entries;
  std::vector<std::string> fields(1);
  bool quoted = false;
  int line = 1;
  const auto finish_line = [&]() -> bool {
    if (fields.size() == 1 && fields[0].empty()) return true;  // an empty line
    if (fields.size() != 3) return false;
    RecordEntry entry{.path = fields[0], .sha256 = {}, .size = {}};
    if (fields[1].starts_with("sha256=")) entry.sha256 = fields[1].substr(7);
    std::uint64_t size = 0;
    const char* end = fields[2].data() + fields[2].size();
    if (!fields[2].empty() && std::from_chars(fields[2].data(), end, size).ptr == end) entry.size = size;
    entries.push_back(std::move(entry));
    return true;
  };
  for (std::size_t at = 0; at <= text.size(); ++at) {
    const char c = at < text.size() ? text[at] : '\n';
    if (c == '"') {
      if (quoted && at + 1 < text.size() && text[at + 1] == '"') {
        fields.back() += '"';
        ++at;
      } else {
        quoted = !quoted;
      }
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else if (c == '\n' && (!quoted || at == text.size())) {
      if (!finish_line())
        return Error{"RECORD", fmt::format("line {}: three fields were expected (path, digest, size)", line)};
      fields.assign(1, {});
      ++line;
    } else if (quoted || c != '\r') {
      fields.back() += c;
    }
  }
  return entries;
}

std::optional<std::string> installed_path(std::string_view name) {
  const std::size_t slash = name.find('/');
  if (name.empty() || name.back() == '/') return std::nullopt;
  if (slash == std::string_view::npos || !name.substr(0, slash).ends_with(".data")) return std::string(name);
  const std::string_view inside = name.substr(slash + 1);
  for (const std::string_view scheme : {"purelib/", "platlib/"})
    if (inside.starts_with(scheme)) return std::string(inside.substr(scheme.size()));
  return std::nullopt;
}

bool is_shared_object_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  const std::string_view base = slash == std::string_view::npos ? path : path.substr(slash + 1);
  const std::size_t at = base.rfind(".so");
  if (at == std::string_view::npos || at == 0) return false;
  const std::string_view version = base.substr(at + 3);
  return version.empty() ||
         (version.front() == '.' && version.find_first_not_of("0123456789.") == std::string_view::npos);
}

}  // namespace compatrix::wheel
