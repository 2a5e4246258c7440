// What `import torch` puts into a process before anything else is opened. Which CUDA libraries it preloads, and how, is
// read from that torch's own __init__.py, for it changes from release to release.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cell.h"

namespace torch_abi {

// Folder below nvidia/ and file pattern of each library that torch's _load_global_deps opens where it finds libcudart
// mapped, in order; `required`: a library that is not found ends the preloading.
struct PreloadList {
  std::vector<std::pair<std::string, std::string>> libraries;
  bool required = true;
};
PreloadList parse_preload_list(std::string_view torch_init);

// "13.0" of a version.py that has cuda = '13.0'; empty for a build without CUDA.
std::string cuda_of(std::string_view version_py);
// That of the cell's torch.
std::string cuda_of_torch(const Cell& cell);

// Opens in `process` what importing torch (and numpy, where the cell has it) opens. Returns the load that failed, or
// null where the import goes well.
const compatrix_load* import_torch(const Cell& cell, compatrix_process* process);

}  // namespace torch_abi
