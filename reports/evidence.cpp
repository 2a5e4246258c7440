#include "reports/evidence.h"

#include <algorithm>

#include <fmt/format.h>

#include "framework/base/text.h"

namespace compatrix {
namespace {

constexpr std::size_t kNamedFiles = 4;

std::string shortened(const std::vector<std::string>& files) {
  std::string text;
  for (std::size_t i = 0; i < std::min(files.size(), kNamedFiles); ++i) text += (text.empty() ? "" : ", ") + files[i];
  if (files.size() > kNamedFiles) text += fmt::format(" and {} more", files.size() - kNamedFiles);
  return text;
}

std::string field(const Finding& finding, const std::string& key) {
  const auto values = field_values(finding, key);
  return values.empty() ? "" : values.front();
}

void add_undefined_symbol(const Finding& finding, std::vector<std::string>& lines) {
  const std::string demangled = field(finding, "demangled"), version = field(finding, "version"),
                    expected = field(finding, "expected_in");
  lines.push_back(fmt::format("missing  {}{}", demangled.empty() ? field(finding, "symbol") : demangled,
                              version.empty() ? "" : "  version " + version));
  const auto instead = field_values(finding, "instead");
  for (std::size_t i = 0; i < std::min<std::size_t>(instead.size(), 3); ++i)
    lines.push_back(fmt::format("{}  {}", i == 0 ? "    has" : "       ", instead[i]));
  std::string where;
  if (!expected.empty()) where = "expected in " + expected;
  const auto files = field_values(finding, "files");
  if (!files.empty()) where += (where.empty() ? "" : "; ") + ("needed by " + shortened(files));
  if (!where.empty()) lines.push_back("         " + where);
}

void add_missing_library(const Finding& finding, std::vector<std::string>& lines) {
  const auto instead = field_values(finding, "instead"), files = field_values(finding, "files");
  lines.push_back(fmt::format("no file  {}{}", field(finding, "needed"),
                              instead.empty() ? "" : "  (this environment has " + shortened(instead) + ")"));
  if (!files.empty()) lines.push_back("         needed by " + shortened(files));
}

// What a process printed, line by line.
void add_printed(const std::string& printed, std::vector<std::string>& lines) {
  for (std::size_t at = 0; at < printed.size();) {
    const std::size_t end = std::min(printed.find('\n', at), printed.size());
    const std::string line = printed.substr(at, end - at);
    if (const std::size_t last = line.find_last_not_of(" \t"); last != std::string::npos)
      lines.push_back("         " + line.substr(0, last + 1));
    at = end + 1;
  }
}

}  // namespace

std::vector<std::string> field_values(const Finding& finding, const std::string& key) {
  std::vector<std::string> values;
  for (const auto& [name, value] : finding.fields)
    if (name == key) values.push_back(visible_utf8(value));
  return values;
}

std::vector<std::string> evidence_lines(const CheckResult& result, std::size_t most) {
  std::vector<std::string> lines;
  std::size_t shown = 0, left_out = 0;
  for (const Finding& finding : result.findings) {
    if (finding.kind == "file-outcome") continue;
    if (shown == most) {
      ++left_out;
      continue;
    }
    ++shown;
    if (finding.kind == "undefined-symbol") {
      add_undefined_symbol(finding, lines);
    } else if (finding.kind == "library-not-found") {
      add_missing_library(finding, lines);
    } else {
      const bool named = finding.file.empty() || finding.message.find(finding.file) != std::string::npos;
      lines.push_back(
          fmt::format("{}{}", named ? "" : visible_utf8(finding.file) + ": ", visible_utf8(finding.message)));
      for (const std::string& printed : field_values(finding, "printed")) add_printed(printed, lines);
    }
  }
  if (left_out != 0)
    lines.push_back(fmt::format("and {} more finding{} in results.json", left_out, left_out == 1 ? "" : "s"));
  return lines;
}

}  // namespace compatrix
