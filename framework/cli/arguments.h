// Arguments of a subcommand, by cxxopts, with its complaints in our words.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <cxxopts.hpp>

#include "framework/cli/command.h"

namespace compatrix::cli {

// Parses; prints help (exit 0) or one sentence on what is wrong (exit 2) and then has no value but an exit code.
struct ParsedArguments {
  std::optional<cxxopts::ParseResult> result;
  int exit_code = 0;
};
ParsedArguments parse(cxxopts::Options& options, const std::string& name, const Arguments& arguments);

// "error: subject: message" on standard error.
void print_error(const std::string& text);

}  // namespace compatrix::cli
