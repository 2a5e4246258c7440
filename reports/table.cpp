// The report for people: one row per cell, one column per check; below it each distinct answer once, what needs a
// person first.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "framework/base/text.h"
#include "reports/evidence.h"
#include "reports/report.h"

namespace compatrix {
namespace {

constexpr std::size_t kShownFindings = 6;

struct Look {
  const char* glyph;
  const char* colour;  // SGR parameters
};

Look look_of(Status status) {
  switch (status) {
    case Status::pass:
      return {"✓", "32"};
    case Status::warn:
      return {"!", "33"};
    case Status::fail:
      return {"✗", "31"};
    case Status::skip:
    case Status::excluded:
      return {"–", "2"};
    case Status::error:
    case Status::crash:
    case Status::timeout:
      return {"?", "35"};
  }
  return {" ", "0"};
}

// Columns that the text takes; every glyph used here takes one.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(width > width_of(text) ? width - width_of(text) : 0, ' ');
}

// One entry of the table: plain text for measuring, painted for showing.
struct Entry {
  std::string text;
  std::string colour;
};

class Table {
 public:
  explicit Table(bool colour) : colour_(colour) {}
  void add_row(std::vector<Entry> row) { rows_.push_back(std::move(row)); }

  std::string text() const {
    std::vector<std::size_t> widths;
    for (const auto& row : rows_)
      for (std::size_t i = 0; i < row.size(); ++i) {
        if (widths.size() <= i) widths.push_back(0);
        widths[i] = std::max(widths[i], width_of(row[i].text));
      }
    std::string text;
    for (const auto& row : rows_) {
      std::string line = " ";
      for (std::size_t i = 0; i < row.size(); ++i) {
        const std::string shown = i + 1 == row.size() ? row[i].text : padded(row[i].text, widths[i] + 2);
        line += colour_ && !row[i].colour.empty() ? fmt::format("\033[{}m{}\033[0m", row[i].colour, shown) : shown;
      }
      while (line.ends_with(' ')) line.pop_back();
      text += line + "\n";
    }
    return text;
  }

 private:
  bool colour_;
  std::vector<std::vector<Entry>> rows_;
};

Entry entry_for(const ReportedResult& reported) {
  const CheckResult& result = reported.result;
  const Look look = look_of(result.status);
  std::string text = fmt::format("{} {}", look.glyph, word(result.status));
  std::string causes;
  if (result.status == Status::fail)
    for (const Cause cause : causes_of(result)) causes += (causes.empty() ? "" : ", ") + std::string(word(cause));
  if (!causes.empty()) text += fmt::format(" ({})", causes);
  if (!reported.broken_expectation.empty()) text += " — not as expected";
  if (reported.expected && result.status != Status::pass) text += " — expected";
  return {text, look.colour};
}

std::vector<std::string> check_names(const Report& report) {
  std::vector<std::string> names;
  for (const ReportedCell& cell : report.cells)
    for (const ReportedResult& reported : cell.results)
      if (std::find(names.begin(), names.end(), reported.result.check) == names.end())
        names.push_back(reported.result.check);
  return names;
}

std::string result_rows(const Report& report, bool colour) {
  const std::vector<std::string> checks = check_names(report);
  Table table(colour);
  std::vector<Entry> head;
  if (!report.cells.empty())
    for (const auto& [name, value] : report.cells.front().axes) head.push_back({name, "1"});
  if (head.empty()) head.push_back({"cell", "1"});
  for (const std::string& check : checks) head.push_back({check, "1"});
  table.add_row(head);
  for (const ReportedCell& cell : report.cells) {
    std::vector<Entry> row;
    for (const auto& [name, value] : cell.axes) row.push_back({visible_utf8(value), ""});
    if (row.empty()) row.push_back({visible_utf8(cell.id), ""});
    for (const std::string& check : checks) {
      const auto found = std::find_if(cell.results.begin(), cell.results.end(),
                                      [&](const auto& r) { return r.result.check == check; });
      row.push_back(found == cell.results.end() ? Entry{} : entry_for(*found));
    }
    table.add_row(std::move(row));
  }
  return table.text();
}

// One line, broken at blanks; continuation lines keep the indent.
std::string wrapped_line(const std::string& text, std::size_t width, const std::string& indent) {
  std::string lines;
  std::string line = text.substr(0, text.find_first_not_of(' '));
  const std::string hanging = line;
  const auto put = [&] {
    line.erase(line.find_last_not_of(' ') + 1);
    lines += indent + line + "\n";
  };
  bool empty = true;
  for (std::size_t at = line.size(); at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string piece = text.substr(at, end - at);
    if (!empty && width_of(indent) + width_of(line) + 1 + width_of(piece) > width) {
      put();
      line = hanging + "  " + piece;
    } else {
      line += (empty ? "" : " ") + piece;
    }
    empty = false;
    at = end + 1;
  }
  put();
  return lines;
}

std::string wrapped(const std::string& text, std::size_t width, const std::string& indent) {
  std::string lines;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (text.find_first_not_of(' ', at) < end) lines += wrapped_line(text.substr(at, end - at), width, indent);
    at = end + 1;
  }
  return lines;
}

struct Place {
  const ReportedCell* cell = nullptr;
  const ReportedResult* reported = nullptr;
};

// The same answer of several cells; the cells that did not expect it come first.
struct Group {
  std::vector<Place> places;

  [[nodiscard]] const ReportedResult& first() const { return *places.front().reported; }
  // Whether each cell expected it, and for the same reason.
  [[nodiscard]] bool all_expected() const {
    return std::all_of(places.begin(), places.end(), [&](const Place& place) {
      return place.reported->expected && place.reported->expectation_reason == first().expectation_reason;
    });
  }
};

// Answers that say the same of several cells are told once.
std::vector<Group> grouped(const Report& report) {
  std::vector<Group> groups;
  std::map<std::string, std::size_t> known;
  for (const ReportedCell& cell : report.cells)
    for (const ReportedResult& reported : cell.results) {
      const CheckResult& result = reported.result;
      if (result.status == Status::excluded) continue;
      std::string key =
          fmt::format("{}|{}|{}|{}", result.check, word(result.status), result.summary, reported.broken_expectation);
      for (const std::string& line : evidence_lines(result, kShownFindings)) key += "|" + line;
      for (const std::string& remedy : result.remedies) key += "|" + remedy;
      const auto [place, fresh] = known.emplace(key, groups.size());
      if (fresh) groups.emplace_back();
      groups[place->second].places.push_back({&cell, &reported});
    }
  for (Group& group : groups)
    std::stable_partition(group.places.begin(), group.places.end(),
                          [](const Place& place) { return !place.reported->expected; });
  std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
    const auto rank = [](const Group& g) {
      if (!g.first().broken_expectation.empty()) return 0;
      if (g.first().result.status == Status::warn) return 4;
      if (g.first().result.status == Status::skip) return 5;
      if (g.first().result.status == Status::pass) return 6;
      return g.first().expected ? 3 : g.first().result.status == Status::fail ? 1 : 2;
    };
    return rank(a) < rank(b);
  });
  return groups;
}

std::string describe(const Group& group, const TableOptions& options) {
  const CheckResult& result = group.first().result;
  const Look look = look_of(result.status);
  const auto width = static_cast<std::size_t>(options.width);
  const bool all_expected = group.all_expected();
  const std::string head = fmt::format("{} {}", look.glyph, result.check);
  std::string text = options.colour ? fmt::format("\n\033[1;{}m{}\033[0m", look.colour, head) : "\n" + head;
  for (std::size_t i = 0; i < group.places.size(); ++i) {
    const auto& [cell, reported] = group.places[i];
    text += fmt::format("{}{}", i == 0 ? "  " : "\n    and  ", visible_utf8(cell->id));
    if (reported->expected && !all_expected)
      text += fmt::format("  (expected: {})", visible_utf8(reported->expectation_reason));
  }
  text += "\n";
  if (!group.first().broken_expectation.empty())
    text += wrapped(visible_utf8(group.first().broken_expectation), width, "    ");
  text += wrapped(visible_utf8(result.summary), width, "    ");
  if (result.status == Status::pass) return text;
  for (const std::string& line : evidence_lines(result, kShownFindings)) text += wrapped(line, width, "      ");
  for (const std::string& remedy : result.remedies) text += wrapped("→ " + visible_utf8(remedy), width, "    ");
  if (all_expected) text += wrapped("expected: " + visible_utf8(group.first().expectation_reason), width, "    ");
  return text;
}

std::string assumptions(const Report& report, std::size_t width) {
  std::vector<std::string> all;
  for (const ReportedCell& cell : report.cells)
    for (const ReportedResult& reported : cell.results)
      for (const std::string& assumption : reported.result.assumptions)
        if (std::find(all.begin(), all.end(), assumption) == all.end()) all.push_back(assumption);
  if (all.empty()) return {};
  std::string text = "\nNot seen but assumed:\n";
  for (const std::string& assumption : all) text += wrapped("· " + visible_utf8(assumption), width, "    ");
  return text;
}

std::string totals(const Report& report) {
  std::map<Status, std::pair<int, int>> counts;  // all, of which expected
  std::size_t total = 0;
  for (const ReportedCell& cell : report.cells)
    for (const ReportedResult& reported : cell.results) {
      ++counts[reported.result.status].first;
      counts[reported.result.status].second += reported.expected && reported.result.status != Status::pass ? 1 : 0;
      ++total;
    }
  std::string text = fmt::format("\n{} {}, {} {}:", report.cells.size(), report.cells.size() == 1 ? "cell" : "cells",
                                 total, total == 1 ? "answer" : "answers");
  bool first = true;
  for (const auto& [status, count] : counts) {
    text += fmt::format("{} {} {}", first ? "" : ",", count.first, word(status));
    if (count.second != 0) text += fmt::format(" ({} expected)", count.second);
    first = false;
  }
  if (report.interrupted) text += "; interrupted";
  return text + fmt::format("  [{:.1f} s]\n", report.duration_s);
}

}  // namespace

std::string result_table(const Report& report, const TableOptions& options) {
  std::string text = result_rows(report, options.colour);
  for (const Group& group : grouped(report)) text += describe(group, options);
  text += assumptions(report, static_cast<std::size_t>(options.width));
  return text + totals(report);
}

}  // namespace compatrix
