#include <fmt/format.h>

#include "framework/base/text.h"
#include "framework/cli/arguments.h"
#include "framework/matrix/matrix.h"

namespace compatrix::cli {

int matrix_command(const Arguments& arguments) {
  cxxopts::Options options("compatrix matrix",
                           "matrix list FILE: prints the cells of a matrix file, one a line, and what each asks for.");
  options.positional_help("list FILE");
  options.add_options()("words", "list FILE", cxxopts::value<std::vector<std::string>>());
  options.parse_positional({"words"});
  const ParsedArguments parsed = parse(options, "matrix", arguments);
  if (!parsed.result) return parsed.exit_code;
  const auto words = parsed.result->count("words") == 0 ? std::vector<std::string>()
                                                        : (*parsed.result)["words"].as<std::vector<std::string>>();
  if (words.size() != 2 || words.front() != "list") {
    print_error("for instance: compatrix matrix list matrices/sgl-kernel-torch.yaml");
    return kUsage;
  }
  const auto matrix = read_matrix(words.back());
  if (!matrix) {
    print_error(matrix.error().text());
    return kUsage;
  }
  for (const Cell& cell : expand(*matrix)) {
    std::string line = cell.id();
    for (const std::string& requirement : requirements_of(*matrix, cell)) line += "  " + requirement;
    if (cell.excluded) line += "  (excluded: " + *cell.excluded + ")";
    fmt::print("{}\n", visible_utf8(line));
  }
  return 0;
}

}  // namespace compatrix::cli
