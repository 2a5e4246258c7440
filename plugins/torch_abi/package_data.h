// What a package's own code does with its libraries, where no importer tells: the order in which it opens them, sets of
// which one is enough, files opened on first use only. Small data about known packages (data/packages.json), each entry
// with its source; a package without an entry gets the general answer: every file is needed and opened by itself.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace torch_abi {

struct PackageData {
  std::string package;  // normalised (PEP 503)
  std::string source;   // release, file and function that the entry was read from
  // Files opened one after the other, each staying in the process.
  std::vector<std::vector<std::string>> sequences;
  // Sets of which one is enough, in the order in which the package tries them: one for each member, whose name stands
  // for "{}" in the files, which are opened one after the other.
  std::string alternatives_of;  // what the members are: "FFmpeg major"
  std::vector<std::string> members;
  std::vector<std::string> member_files;
  // One library for each CUDA version, whose digits stand for "{}": that of torch's CUDA, else the newest one below it
  // of the same major, else the oldest of that major.
  std::string by_cuda, without_cuda;
  std::vector<std::string> on_demand;  // shell patterns of files that are not opened by an import
};

// Throws std::runtime_error for a text that is not such data.
std::vector<PackageData> parse_package_data(std::string_view json);
// The data that was compiled in.
const std::vector<PackageData>& known_packages();
const PackageData* find_package(const std::vector<PackageData>& packages, std::string_view project);

// `pattern` with its "{}" replaced.
std::string filled(std::string_view pattern, std::string_view value);

// All orders in which files are opened, those of the members of alternatives included.
std::vector<std::vector<std::string>> sequences_of(const PackageData& data);

// The file of `pattern` that is opened beside this CUDA ("12.8"), out of those that the package has; nothing where it
// has none for that major.
std::optional<std::string> chosen_for_cuda(const std::vector<std::string>& files, std::string_view pattern,
                                           std::string_view cuda);

}  // namespace torch_abi
