// JUnit XML in the strict profile: the form that is valid by the schemas of Jenkins' xunit plugin (junit-10) and of
// windyroad at once. One flat suite per cell; classname is the cell's id, name the check's.
#include <sstream>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "framework/base/text.h"
#include "reports/evidence.h"
#include "reports/report.h"

namespace compatrix {
namespace {

constexpr std::size_t kLongestText = 64U << 10;

// The first byte of the character that the byte at `at` belongs to: half a character would spoil the whole file.
std::size_t character_start(const std::string& text, std::size_t at) {
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) --at;
  return at;
}

// Consumers refuse or cut long texts: the beginning and the end say most. The text is valid UTF-8.
std::string capped(const std::string& text) {
  if (text.size() <= kLongestText) return text;
  const std::size_t head = character_start(text, kLongestText / 2);
  const std::size_t tail = character_start(text, text.size() - kLongestText / 2);
  return fmt::format("{}\n... {} bytes left out; results.json has them ...\n{}", text.substr(0, head), tail - head,
                     text.substr(tail));
}

// Encoded before pugixml sees it: it writes illegal characters as they are.
void set(pugi::xml_node node, const char* attribute, const std::string& value) {
  std::string line = visible_utf8(value);
  for (char& c : line)
    if (c == '\n' || c == '\t') c = ' ';
  node.append_attribute(attribute).set_value(line.c_str());
}

std::string seconds(double value) {
  return fmt::format("{:.3f}", value < 0 ? 0 : value);
}

std::string details(const CheckResult& result) {
  std::string text = result.summary + "\n";
  for (const std::string& line : evidence_lines(result, 200)) text += "  " + line + "\n";
  for (const std::string& remedy : result.remedies) text += "remedy: " + remedy + "\n";
  for (const std::string& assumption : result.assumptions) text += "assumed: " + assumption + "\n";
  text += fmt::format("basis: {}\n", word(result.basis));
  return capped(visible_utf8(text));
}

enum class Element { none, failure, error, skipped };

Element element_for(const ReportedResult& reported) {
  if (!reported.broken_expectation.empty()) return Element::failure;
  if (reported.expected && reported.result.status != Status::pass && reported.result.status != Status::warn)
    return Element::skipped;
  switch (reported.result.status) {
    case Status::pass:
    case Status::warn:
      return Element::none;
    case Status::fail:
      return Element::failure;
    case Status::skip:
    case Status::excluded:
      return Element::skipped;
    default:
      return Element::error;
  }
}

void add_testcase(pugi::xml_node suite, const ReportedCell& cell, const ReportedResult& reported) {
  const CheckResult& result = reported.result;
  pugi::xml_node testcase = suite.append_child("testcase");
  set(testcase, "classname", cell.id);
  set(testcase, "name", result.check);
  set(testcase, "time", seconds(result.duration_s));
  switch (element_for(reported)) {
    case Element::none:
      return;
    case Element::skipped: {
      const std::string reason = reported.expected ? "expected: " + reported.expectation_reason : result.summary;
      set(testcase.append_child("skipped"), "message", reason);
      return;
    }
    case Element::failure: {
      pugi::xml_node failure = testcase.append_child("failure");
      set(failure, "type", result.cause ? std::string(word(*result.cause)) : "expectation");
      set(failure, "message", reported.broken_expectation.empty() ? result.summary : reported.broken_expectation);
      failure.append_child(pugi::node_pcdata).set_value(details(result).c_str());
      return;
    }
    case Element::error: {
      pugi::xml_node error = testcase.append_child("error");
      set(error, "type", std::string(word(result.status)));
      set(error, "message", result.summary);
      error.append_child(pugi::node_pcdata).set_value(details(result).c_str());
      return;
    }
  }
}

// Warnings have no element of their own; they stand in the suite's output.
std::string warnings_of(const ReportedCell& cell) {
  std::string text;
  for (const ReportedResult& reported : cell.results) {
    if (reported.result.status != Status::warn) continue;
    text += fmt::format("warning: {}: {}\n", reported.result.check, details(reported.result));
  }
  return capped(visible_utf8(text));
}

void add_suite(pugi::xml_node root, const Report& report, const ReportedCell& cell, std::size_t id) {
  int failures = 0, errors = 0, skipped = 0;
  double time = 0;
  for (const ReportedResult& reported : cell.results) {
    const Element element = element_for(reported);
    failures += element == Element::failure ? 1 : 0;
    errors += element == Element::error ? 1 : 0;
    skipped += element == Element::skipped ? 1 : 0;
    time += reported.result.duration_s;
  }
  pugi::xml_node suite = root.append_child("testsuite");
  set(suite, "name", cell.id);
  set(suite, "id", std::to_string(id));
  set(suite, "package", report.name);
  set(suite, "hostname", report.host.empty() ? "localhost" : report.host);
  set(suite, "timestamp", report.started);
  set(suite, "time", seconds(time));
  set(suite, "tests", std::to_string(cell.results.size()));
  set(suite, "failures", std::to_string(failures));
  set(suite, "errors", std::to_string(errors));
  set(suite, "skipped", std::to_string(skipped));
  pugi::xml_node properties = suite.append_child("properties");
  for (const auto& [name, value] : cell.axes) {
    pugi::xml_node property = properties.append_child("property");
    set(property, "name", "axis." + name);
    set(property, "value", value);
  }
  for (const ReportedResult& reported : cell.results) add_testcase(suite, cell, reported);
  pugi::xml_node output = suite.append_child("system-out");
  if (const std::string warnings = warnings_of(cell); !warnings.empty())
    output.append_child(pugi::node_pcdata).set_value(warnings.c_str());
  pugi::xml_node errors_output = suite.append_child("system-err");
  if (!cell.error.empty()) errors_output.append_child(pugi::node_pcdata).set_value(visible_utf8(cell.error).c_str());
}

}  // namespace

std::string junit_xml(const Report& report) {
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version").set_value("1.0");
  declaration.append_attribute("encoding").set_value("UTF-8");
  pugi::xml_node root = document.append_child("testsuites");
  for (std::size_t i = 0; i < report.cells.size(); ++i) add_suite(root, report, report.cells[i], i);
  std::ostringstream out;
  document.save(out, "  ", pugi::format_default, pugi::encoding_utf8);
  return out.str();
}

}  // namespace compatrix
