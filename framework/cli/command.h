// The subcommands: each takes its own arguments and returns the exit code.
#pragma once

#include <string>
#include <vector>

namespace compatrix::cli {

using Arguments = std::vector<std::string>;  // without the program's and the subcommand's name

int run_command(const Arguments& arguments);
int check_command(const Arguments& arguments);
int explain_command(const Arguments& arguments);
int plugins_command(const Arguments& arguments);
int matrix_command(const Arguments& arguments);
int report_command(const Arguments& arguments);
int worker_command(const Arguments& arguments);

inline constexpr int kUsage = 2;  // exit code for wrong arguments or a wrong matrix file

}  // namespace compatrix::cli
