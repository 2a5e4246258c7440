// compatrix: dispatches to the subcommands.
#include <array>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "framework/base/text.h"
#include "framework/cli/command.h"

namespace compatrix::cli {
namespace {

struct Command {
  std::string_view name;
  int (*run)(const Arguments&);
  std::string_view summary;
};

constexpr std::array kCommands{
    Command{"run", &run_command, "evaluate a matrix file: table, results.json, junit.xml"},
    Command{"check", &check_command, "answer one question: compatrix check sgl-kernel==0.3.21 --with torch==2.10.0"},
    Command{"explain", &explain_command, "what a shared object or a wheel needs and provides"},
    Command{"plugins", &plugins_command, "the check plugins that were found, and why others were refused"},
    Command{"matrix", &matrix_command, "matrix list FILE: the cells of a matrix file"},
    Command{"report", &report_command, "make the reports again from a run's journal"},
    Command{"worker", &worker_command, ""},
};

void print_help(std::FILE* to) {
  fmt::print(
      to, "compatrix {}: does this wheel load beside that torch, and if not, which one cause breaks it?\n\nCommands:\n",
      COMPATRIX_VERSION);
  for (const Command& command : kCommands)
    if (!command.summary.empty()) fmt::print(to, "  {:<10} {}\n", command.name, command.summary);
  fmt::print(to, "\ncompatrix COMMAND --help tells more of each.\n");
}

int dispatch(int count, char** values) {
  const Arguments all(values + 1, values + count);
  if (all.empty()) {
    print_help(stderr);
    return kUsage;
  }
  if (all.front() == "--help" || all.front() == "-h" || all.front() == "help") {
    print_help(stdout);
    return 0;
  }
  if (all.front() == "--version") {
    fmt::print("compatrix {}\n", COMPATRIX_VERSION);
    return 0;
  }
  std::vector<std::string> names;
  for (const Command& command : kCommands) {
    if (command.name == all.front()) return command.run(Arguments(all.begin() + 1, all.end()));
    if (!command.summary.empty()) names.emplace_back(command.name);
  }
  fmt::print(stderr, "error: there is no command '{}'{}\n", visible_utf8(all.front()), suggestion(all.front(), names));
  return kUsage;
}

}  // namespace
}  // namespace compatrix::cli

int main(int count, char** values) {
  try {
    return compatrix::cli::dispatch(count, values);
  } catch (const std::exception& failure) {
    fmt::print(stderr, "error: {}\n", compatrix::visible_utf8(failure.what()));
    return 3;
  }
}
