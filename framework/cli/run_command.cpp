#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "framework/cli/arguments.h"
#include "framework/cli/evaluation.h"
#include "framework/cli/output.h"
#include "framework/cli/progress.h"

namespace compatrix::cli {

int run_command(const Arguments& arguments) {
  cxxopts::Options options("compatrix run", "Evaluates every cell of a matrix file.");
  options.positional_help("MATRIX");
  options.add_options()("matrix", "The matrix file", cxxopts::value<std::string>())(
      "o,output", "Folder for journal.jsonl, results.json and junit.xml",
      cxxopts::value<std::string>()->default_value("compatrix-report"))(
      "format", "table, or json on standard output", cxxopts::value<std::string>()->default_value("table"))(
      "python", "Judge the installed environment of this interpreter instead of wheels", cxxopts::value<std::string>())(
      "refresh", "Lock every cell again from the index")("offline", "Use only what is locked and stored")(
      "j,jobs", "Workers at the same time", cxxopts::value<int>()->default_value(std::to_string(default_workers())));
  options.parse_positional({"matrix"});
  const ParsedArguments parsed = parse(options, "run", arguments);
  if (!parsed.result) return parsed.exit_code;
  const auto& given = *parsed.result;
  if (given.count("matrix") == 0) {
    print_error("which matrix? for instance: compatrix run matrices/sgl-kernel-torch.yaml");
    return kUsage;
  }
  const std::filesystem::path file = given["matrix"].as<std::string>();
  auto matrix = read_matrix(file);
  if (!matrix) {
    print_error(matrix.error().text());
    return kUsage;
  }
  if (given.count("python") != 0) {
    matrix->environment.provider = "prefix";
    matrix->environment.python = given["python"].as<std::string>();
  }
  const std::filesystem::path output = given["output"].as<std::string>();
  const EvaluationRequest request{.matrix = *matrix,
                                  .locks = file.parent_path() / (file.stem().string() + ".locks"),
                                  .journal = output / "journal.jsonl",
                                  .refresh = given.count("refresh") != 0,
                                  .offline = given.count("offline") != 0,
                                  .workers = given["jobs"].as<int>()};
  const auto report = evaluate(request);
  if (!report) {
    print_error(report.error().text());
    return 3;
  }
  return show_and_write(*report, given["format"].as<std::string>(), output);
}

}  // namespace compatrix::cli
