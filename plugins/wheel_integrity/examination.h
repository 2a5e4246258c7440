// One wheel under examination: what the host knows of it and what has been found so far.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "compatrix/plugin.h"
#include "compatrix/services.h"

namespace wheel_integrity {

struct Found {
  std::string cause;  // empty: it speaks against nothing
  std::string kind, file, message;
  std::vector<std::pair<std::string, std::string>> fields;
  bool fatal = false;  // the wheel is corrupt
  std::string remedy = {};
};

struct Examination {
  compatrix_run* run = nullptr;
  const compatrix_environment_1* environment = nullptr;
  const compatrix_elf_1* elf = nullptr;
  std::size_t distribution = 0;
  std::vector<Found> found;

  [[nodiscard]] const compatrix_distribution& wheel() const { return *environment->distribution(run, distribution); }
  [[nodiscard]] std::vector<std::string> files() const;
  [[nodiscard]] std::vector<std::string> shared_objects() const;
};

// Archive and RECORD: every rule that makes an archive ambiguous, digests that differ, files that RECORD lacks or
// invents.
void examine_archive(Examination& examination);
// METADATA and WHEEL against the cell, the file's name and the shared objects.
void examine_metadata(Examination& examination);
// Modules that are named for the stable ABI of CPython against the symbols that they use.
void examine_stable_abi(Examination& examination);

// Files of the whole cell that several distributions claim, or that are listed as installed and are gone.
void examine_ownership(Examination& examination);

}  // namespace wheel_integrity
