#include <unistd.h>

#include <fmt/format.h>

#include "framework/cli/arguments.h"
#include "framework/cli/evaluation.h"
#include "framework/cli/output.h"
#include "framework/environment/platform.h"
#include "framework/facts/store.h"

namespace compatrix::cli {
namespace {

// The question as a matrix of one cell.
Matrix one_cell(const cxxopts::ParseResult& given) {
  Matrix matrix{.file = std::filesystem::current_path() / "check",
                .name = "check",
                .axes = {},
                .linked = {},
                .exclude = {},
                .indexes = {},
                .environment = {},
                .checks = {},
                .expect = {}};
  matrix.environment.requirements = given["requirement"].as<std::vector<std::string>>();
  if (given.count("with") != 0)
    for (const std::string& with : given["with"].as<std::vector<std::string>>())
      matrix.environment.requirements.push_back(with);
  if (given.count("find-links") != 0)
    matrix.environment.find_links = given["find-links"].as<std::vector<std::string>>();
  if (given.count("python") != 0) {
    matrix.environment.provider = "prefix";
    matrix.environment.python = given["python"].as<std::string>();
  }
  matrix.axes.push_back({.name = "python", .values = {given["python-version"].as<std::string>()}});
  if (given.count("platform") != 0)
    matrix.axes.push_back({.name = "platform", .values = {given["platform"].as<std::string>()}});
  if (given.count("index") != 0) {
    matrix.axes.push_back({.name = "index", .values = {"further"}});
    matrix.indexes.emplace_back("further", given["index"].as<std::string>());
  }
  for (const std::string& check : given["checks"].as<std::vector<std::string>>())
    matrix.checks.push_back({.id = check, .parameters = {}});
  return matrix;
}

}  // namespace

int check_command(const Arguments& arguments) {
  cxxopts::Options options("compatrix check",
                           "Answers one question without a matrix file.\n"
                           "  compatrix check sgl-kernel==0.3.21 --with torch==2.10.0\n"
                           "  compatrix check ./my_kernels-1.0-cp311-cp311-linux_x86_64.whl --with torch==2.10.0\n"
                           "  compatrix check sgl-kernel --python /path/of/env/bin/python");
  options.positional_help("REQUIREMENT...");
  options.add_options()("requirement", "What is judged: a requirement or the path of a wheel",
                        cxxopts::value<std::vector<std::string>>())("with", "What stands beside it (repeatable)",
                                                                    cxxopts::value<std::vector<std::string>>())(
      "checks", "Which checks", cxxopts::value<std::vector<std::string>>()->default_value("torch_abi,wheel_integrity"))(
      "python-version", "CPython minor version of the cell", cxxopts::value<std::string>()->default_value("3.11"))(
      "platform", "System and machine to judge for instead of this one, such as rhel8 or ubuntu24.04-aarch64",
      cxxopts::value<std::string>())("python", "Judge the installed environment of this interpreter instead",
                                     cxxopts::value<std::string>())(
      "index", "A further index, asked before the configured one", cxxopts::value<std::string>())(
      "find-links", "A folder of wheels (repeatable)", cxxopts::value<std::vector<std::string>>())(
      "refresh", "Lock again from the index")("offline", "Use only what is locked and stored")(
      "format", "table, or json on standard output", cxxopts::value<std::string>()->default_value("table"));
  options.parse_positional({"requirement"});
  const ParsedArguments parsed = parse(options, "check", arguments);
  if (!parsed.result) return parsed.exit_code;
  const auto& given = *parsed.result;
  if (given.count("requirement") == 0) {
    print_error("what is to be checked? for instance: compatrix check sgl-kernel==0.3.21 --with torch==2.10.0");
    return kUsage;
  }
  if (given.count("platform") != 0) {
    const auto platform = platform_named(given["platform"].as<std::string>());
    if (!platform || given.count("python") != 0) {
      print_error(platform ? "--platform is for imagined environments: an installed one (--python) has this machine's"
                           : "--platform " + platform.error().text());
      return kUsage;
    }
  }
  const std::filesystem::path cache = facts::default_store_folder().parent_path();
  const std::filesystem::path journal = cache / "checks" / fmt::format("{}.jsonl", ::getpid());
  const auto report = evaluate({.matrix = one_cell(given),
                                .locks = cache / "locks",
                                .journal = journal,
                                .refresh = given.count("refresh") != 0,
                                .offline = given.count("offline") != 0,
                                .workers = default_workers()});
  std::error_code ignored;
  std::filesystem::remove(journal, ignored);
  if (!report) {
    print_error(report.error().text());
    return 3;
  }
  return show_and_write(*report, given["format"].as<std::string>(), std::nullopt);
}

}  // namespace compatrix::cli
