#include "cell.h"

#include <algorithm>
#include <cstring>

#include <fnmatch.h>

namespace torch_abi {

Cell::Cell(const compatrix_host* host_lent, compatrix_run* evaluated)
    : run(evaluated),
      host(host_lent),
      environment(static_cast<const compatrix_environment_1*>(host->service(run, COMPATRIX_ENVIRONMENT_1))),
      elf(static_cast<const compatrix_elf_1*>(host->service(run, COMPATRIX_ELF_1))),
      linker(static_cast<const compatrix_linker_1*>(host->service(run, COMPATRIX_LINKER_1))),
      releases(static_cast<const compatrix_releases_1*>(host->service(run, COMPATRIX_RELEASES_1))) {}

int Cell::find(std::string_view project) const {
  for (std::size_t i = 0; i < environment->distribution_count(run); ++i)
    if (environment->distribution(run, i)->name == project) return static_cast<int>(i);
  return -1;
}

std::vector<std::string> Cell::shared_objects(std::size_t distribution) const {
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < environment->file_count(run, distribution); ++i)
    if (const compatrix_file* file = environment->file(run, distribution, i); file->shared_object != 0)
      paths.emplace_back(file->path);
  return paths;
}

std::vector<std::string> Cell::matching(const std::string& pattern) const {
  std::vector<std::string> paths;
  // Cells have tens of thousands of files: the pattern's plain beginning sorts nearly all of them out.
  const std::string beginning = pattern.substr(0, pattern.find_first_of("*?["));
  for (std::size_t d = 0; d < environment->distribution_count(run); ++d)
    for (std::size_t i = 0, count = environment->file_count(run, d); i < count; ++i) {
      const char* path = environment->file(run, d, i)->path;
      if (std::strncmp(path, beginning.c_str(), beginning.size()) == 0 &&
          fnmatch(pattern.c_str(), path, FNM_PATHNAME) == 0)
        paths.emplace_back(path);
    }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace torch_abi
