#include "framework/checks/result_json.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "framework/base/text.h"

namespace compatrix {
namespace {

using Json = nlohmann::ordered_json;

// Fields that are lists even when they have one value: readers of the JSON then need no two cases.
constexpr std::array<std::string_view, 4> kLists{"instead", "searched", "files", "needed_by"};
constexpr std::array<std::string_view, 4> kFixed{"cause", "kind", "file", "message"};

Json finding_to_json(const Finding& finding) {
  Json json = Json::object();
  if (finding.cause) json["cause"] = word(*finding.cause);
  json["kind"] = visible_utf8(finding.kind);
  if (!finding.file.empty()) json["file"] = visible_utf8(finding.file);
  json["message"] = visible_utf8(finding.message);
  for (const auto& [raw_key, raw_value] : finding.fields) {
    const std::string key = visible_utf8(raw_key);
    Json value = visible_utf8(raw_value);
    if (std::find(kFixed.begin(), kFixed.end(), key) != kFixed.end()) continue;
    const bool is_list = std::find(kLists.begin(), kLists.end(), key) != kLists.end();
    if (!json.contains(key)) {
      json[key] = is_list ? Json::array({value}) : value;
    } else {
      if (!json[key].is_array()) json[key] = Json::array({json[key]});
      json[key].push_back(std::move(value));
    }
  }
  return json;
}

Finding finding_from_json(const Json& json) {
  Finding finding{.cause = parse_cause(json.value("cause", "")),
                  .kind = json.value("kind", ""),
                  .file = json.value("file", ""),
                  .message = json.value("message", "")};
  for (const auto& [key, value] : json.items()) {
    if (std::find(kFixed.begin(), kFixed.end(), key) != kFixed.end()) continue;
    if (value.is_array())
      for (const Json& each : value) finding.fields.emplace_back(key, each.get<std::string>());
    else
      finding.fields.emplace_back(key, value.get<std::string>());
  }
  return finding;
}

Json texts(const std::vector<std::string>& values) {
  Json array = Json::array();
  for (const std::string& value : values) array.push_back(visible_utf8(value));
  return array;
}

}  // namespace

Json to_json(const CheckResult& result) {
  Json json{{"check", visible_utf8(result.check)}, {"status", word(result.status)}, {"basis", word(result.basis)}};
  if (result.cause) json["cause"] = word(*result.cause);
  json["summary"] = visible_utf8(result.summary);
  json["duration_s"] = result.duration_s;
  json["findings"] = Json::array();
  for (const Finding& finding : result.findings) json["findings"].push_back(finding_to_json(finding));
  json["assumptions"] = texts(result.assumptions);
  json["remedy"] = texts(result.remedies);
  return json;
}

CheckResult result_from_json(const Json& json) {
  const auto status = parse_status(json.at("status").get<std::string>());
  const auto basis = parse_basis(json.at("basis").get<std::string>());
  if (!status || !basis) throw std::runtime_error("a result with a known status and basis was expected");
  CheckResult result{.check = json.at("check").get<std::string>(),
                     .status = *status,
                     .basis = *basis,
                     .cause = parse_cause(json.value("cause", "")),
                     .summary = json.at("summary").get<std::string>()};
  for (const Json& finding : json.at("findings")) result.findings.push_back(finding_from_json(finding));
  result.assumptions = json.at("assumptions").get<std::vector<std::string>>();
  result.remedies = json.at("remedy").get<std::vector<std::string>>();
  result.duration_s = json.at("duration_s").get<double>();
  return result;
}

}  // namespace compatrix
