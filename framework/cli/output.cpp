#include "framework/cli/output.h"

#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "framework/cli/arguments.h"
#include "framework/cli/evaluation.h"
#include "framework/cli/progress.h"

namespace compatrix::cli {

int show_and_write(const Report& report, const std::string& format,
                   const std::optional<std::filesystem::path>& folder) {
  if (format != "table" && format != "json") {
    print_error("'" + format + "' is no format; known are table and json");
    return kUsage;
  }
  if (format == "json")
    fmt::print("{}\n", results_json(report).dump(1));
  else
    fmt::print("{}", result_table(report, {.colour = wants_colour(), .width = terminal_width()}));
  std::fflush(stdout);
  if (!folder) return exit_status(report);
  for (const auto& [name, content] :
       {std::pair<const char*, std::string>{"results.json", results_json(report).dump(1) + "\n"},
        std::pair<const char*, std::string>{"junit.xml", junit_xml(report)}})
    if (const auto written = write_file_atomically(*folder / name, content); !written) {
      print_error(written.error().text());
      return 3;
    }
  if (format == "table") fmt::print("Reports: {0}/results.json, {0}/junit.xml\n", folder->string());
  return exit_status(report);
}

}  // namespace compatrix::cli
