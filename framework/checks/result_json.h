// CheckResult as JSON: one form for results.json, the journal and the frames between coordinator and worker. Every
// string is made valid UTF-8 on the way out.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "framework/checks/verdict.h"

namespace compatrix {

nlohmann::ordered_json to_json(const CheckResult& result);
// Throws nlohmann::json::exception or std::runtime_error for anything else than to_json wrote.
CheckResult result_from_json(const nlohmann::ordered_json& json);

}  // namespace compatrix
