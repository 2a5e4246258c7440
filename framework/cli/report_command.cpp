#include "framework/cli/arguments.h"
#include "framework/cli/output.h"
#include "reports/journal.h"

namespace compatrix::cli {

int report_command(const Arguments& arguments) {
  cxxopts::Options options("compatrix report",
                           "Makes the reports again from a run's journal, also of a run that was killed.");
  options.positional_help("FOLDER");
  options.add_options()("folder", "The run's output folder", cxxopts::value<std::string>())(
      "format", "table, or json on standard output", cxxopts::value<std::string>()->default_value("table"));
  options.parse_positional({"folder"});
  const ParsedArguments parsed = parse(options, "report", arguments);
  if (!parsed.result) return parsed.exit_code;
  if (parsed.result->count("folder") == 0) {
    print_error("which run? name the folder that run wrote");
    return kUsage;
  }
  const std::filesystem::path folder = (*parsed.result)["folder"].as<std::string>();
  const auto report = read_journal(folder / "journal.jsonl");
  if (!report) {
    print_error(report.error().text());
    return kUsage;
  }
  return show_and_write(*report, (*parsed.result)["format"].as<std::string>(), folder);
}

}  // namespace compatrix::cli
