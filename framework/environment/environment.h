// The concrete software of a cell, as a value: an interpreter and distributions, each a wheel that is known by its
// facts or an installed one that lies on disk. It travels to workers as JSON and is kept beside the results.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "framework/base/result.h"
#include "framework/wheel/lock.h"

namespace compatrix {

struct Distribution {
  std::string name;     // normalised (PEP 503)
  std::string version;  // PEP 440
  bool requested = false;
  std::string file_name;            // of the wheel; empty for an installed distribution
  std::string sha256;               // key of the wheel's facts; empty for an installed distribution
  std::filesystem::path dist_info;  // of an installed distribution
};

// What the dynamic linker takes from the processor: names of capability folders, the `$PLATFORM` token, and what
// GNU_PROPERTY_X86_ISA_1_NEEDED is held against.
struct Processor {
  int isa_level = 1;      // x86-64-vN (x86-64 psABI, 'micro-architecture levels')
  bool is_intel = false;  // glibc 2.36 names Intel's further capabilities only
};

// The machine that this program was compiled for: "x86_64" or "aarch64".
extern const char* const kThisMachine;

// This machine's, from /proc/cpuinfo.
Processor this_processor();

struct Environment {
  std::string python = "3.11";  // CPython minor version
  std::string machine = "x86_64";
  std::string platform;  // declared (platform.h): no file of this machine counts; empty: this machine's system
  std::filesystem::path interpreter;    // an executable of that version; empty: none was found
  std::filesystem::path site_packages;  // where the files of wheels are imagined, or really lie (provider prefix)
  bool installed = false;               // site_packages exists on disk
  std::vector<std::filesystem::path> library_path;  // LD_LIBRARY_PATH of the cell's processes
  std::filesystem::path working_folder;             // of the cell's processes; empty: relative paths lead nowhere
  Processor processor = this_processor();
  std::vector<Distribution> distributions;
};

nlohmann::ordered_json to_json(const Environment& environment);
Environment environment_from_json(const nlohmann::json& json);

// The environment that a lock amounts to; `requested` are normalised project names.
Environment environment_of(const wheel::Lock& lock, const std::vector<std::string>& requested,
                           const wheel::LockTarget& target, const std::filesystem::path& interpreter);

// An existing environment, read where it is: what its site-packages hold. `python` is its interpreter.
Result<Environment> installed_environment(const std::filesystem::path& python);

// What facts of a wheel are kept under when the lock does not know its digest.
std::string facts_key(const wheel::LockedWheel& wheel);

}  // namespace compatrix
