#include "framework/checks/result_json.h"

#include <catch2/catch_all.hpp>
#include <nlohmann/json.hpp>

using namespace compatrix;

TEST_CASE("a result survives its way through JSON, lists and foreign bytes included", "[json]") {
  CheckResult result{.check = "torch_abi",
                     .status = Status::fail,
                     .basis = Basis::predicted,
                     .cause = Cause::torch_abi,
                     .summary = "two\x1b[31m symbols"};
  result.findings.push_back({.cause = Cause::torch_abi,
                             .kind = "undefined-symbol",
                             .file = "a.so",
                             .message = "m",
                             .fields = {{"symbol", "_Z1a"}, {"instead", "a(int)"}, {"note", "x"}, {"note", "y\xff"}}});
  result.assumptions = {"assumed"};
  result.remedies = {"do this"};
  const auto json = to_json(result);
  CHECK(json["findings"][0]["instead"].is_array());
  CHECK(json["findings"][0]["note"] == nlohmann::ordered_json::array({"x", "y\\xFF"}));
  CHECK(json["summary"] == "two\\u001B[31m symbols");
  const CheckResult again = result_from_json(nlohmann::ordered_json::parse(json.dump()));
  CHECK(again.status == Status::fail);
  CHECK(again.cause == Cause::torch_abi);
  CHECK(again.findings[0].fields.size() == 4);
  CHECK(again.remedies == result.remedies);
}

TEST_CASE("every word for a status and a cause is read back as what it was written for", "[json]") {
  for (int i = 0; i <= static_cast<int>(Status::excluded); ++i)
    CHECK(parse_status(word(static_cast<Status>(i))) == static_cast<Status>(i));
  for (int i = 0; i <= static_cast<int>(Cause::dependency_conflict); ++i)
    CHECK(parse_cause(word(static_cast<Cause>(i))) == static_cast<Cause>(i));
  CHECK_FALSE(parse_status("passed"));
  CHECK_THROWS(
      result_from_json(nlohmann::ordered_json::parse(R"({"check":"a","status":"great","basis":"predicted"})")));
}
