// Files that several distributions claim, or that are listed as installed and are gone, in words: who claims them,
// whose bytes are there, what repairs it. For the plugins that meet such files.
#pragma once

#include <string>
#include <vector>

#include "compatrix/plugin.h"
#include "compatrix/services.h"

namespace owners {

struct Dispute {
  std::string path;
  bool present = true;
  bool installed = true;            // else the files are those of a lock, not written yet
  std::vector<std::string> owners;  // "nvidia-nccl-cu12 2.27.5"
  std::string bytes_of;             // the owner whose bytes are on disk; empty: nobody's or unknown
  std::string required;             // the owner that another distribution of the cell requires; empty: none or several
  std::string required_by;          // which one, torch before others
};

// Every disputed file of the cell, sorted by path.
std::vector<Dispute> disputes_of(const compatrix_environment_1& environment, compatrix_run* run);

// "listed in RECORD of nvidia-nvshmem-cu13 3.4.5 and missing on disk", "claimed by a and b; its bytes are those of a"
std::string words_for(const Dispute& dispute);
// Uninstalling one of two owners deletes the file of both: all of them go, and what is required comes back.
std::string remedy_for(const Dispute& dispute);

}  // namespace owners
