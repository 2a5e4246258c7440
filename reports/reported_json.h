// A reported result as JSON: the check's result and what was expected of it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "reports/report.h"

namespace compatrix {

nlohmann::ordered_json to_json(const ReportedResult& reported);
ReportedResult reported_from_json(const nlohmann::ordered_json& json);

}  // namespace compatrix
