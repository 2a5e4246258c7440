// Where a report goes: standard output in the form that was asked for, and files.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "reports/report.h"

namespace compatrix::cli {

// Prints the report ("table" or "json"), writes results.json and junit.xml into `folder` where there is one; the exit
// code.
int show_and_write(const Report& report, const std::string& format, const std::optional<std::filesystem::path>& folder);

}  // namespace compatrix::cli
