// The cell as this plugin sees it: the services it was lent, its torch, and which files of which distributions are
// judged.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "compatrix/plugin.h"
#include "compatrix/services.h"

namespace torch_abi {

// Facts could not be had; the host knows why.
struct FactsUnavailable {};

struct Cell {
  compatrix_run* run = nullptr;
  const compatrix_host* host = nullptr;
  const compatrix_environment_1* environment = nullptr;
  const compatrix_elf_1* elf = nullptr;
  const compatrix_linker_1* linker = nullptr;
  const compatrix_releases_1* releases = nullptr;  // which a host may lack

  Cell(const compatrix_host* host, compatrix_run* run);

  [[nodiscard]] bool has_services() const { return environment != nullptr && elf != nullptr && linker != nullptr; }
  // Position of a distribution, or -1.
  [[nodiscard]] int find(std::string_view project) const;
  // Paths of a distribution's shared objects, in archive order.
  [[nodiscard]] std::vector<std::string> shared_objects(std::size_t distribution) const;
  // Paths in the whole environment that match a shell pattern, sorted.
  [[nodiscard]] std::vector<std::string> matching(const std::string& pattern) const;
};

}  // namespace torch_abi
