#include <nlohmann/json.hpp>

#include "framework/base/text.h"
#include "framework/checks/result_json.h"
#include "reports/report.h"
#include "reports/reported_json.h"

namespace compatrix {

using Json = nlohmann::ordered_json;

Json to_json(const ReportedResult& reported) {
  Json json = to_json(reported.result);
  json["expected"] = reported.expected;
  if (!reported.expectation_reason.empty()) json["expectation"] = visible_utf8(reported.expectation_reason);
  if (!reported.broken_expectation.empty()) json["broken_expectation"] = visible_utf8(reported.broken_expectation);
  return json;
}

ReportedResult reported_from_json(const Json& json) {
  return {.result = result_from_json(json),
          .expected = json.value("expected", false),
          .expectation_reason = json.value("expectation", ""),
          .broken_expectation = json.value("broken_expectation", "")};
}

Json results_json(const Report& report) {
  Json json{{"schema", "compatrix/results/1"},
            {"name", visible_utf8(report.name)},
            {"tool", {{"name", "compatrix"}, {"version", report.tool_version}}},
            {"started", report.started},
            {"duration_s", report.duration_s},
            {"interrupted", report.interrupted},
            {"cells", Json::array()}};
  for (const ReportedCell& cell : report.cells) {
    Json entry{
        {"id", visible_utf8(cell.id)}, {"axes", Json::object()}, {"environment", Json::parse(cell.environment_json)}};
    for (const auto& [name, value] : cell.axes) entry["axes"][visible_utf8(name)] = visible_utf8(value);
    if (!cell.excluded.empty()) entry["excluded"] = visible_utf8(cell.excluded);
    if (!cell.error.empty()) entry["error"] = visible_utf8(cell.error);
    entry["results"] = Json::array();
    for (const ReportedResult& reported : cell.results) entry["results"].push_back(to_json(reported));
    json["cells"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace compatrix
