// Plugins as files: found in folders, judged from their ELF note before anything of them runs, loaded by Boost.DLL in
// a worker process (never in the host), never unloaded.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "compatrix/plugin.h"
#include "framework/base/result.h"

namespace compatrix {

// What the ELF note `.note.compatrix` of a plugin says (include/compatrix/note.h).
struct PluginNote {
  std::uint32_t abi_major = 0;
  std::uint32_t abi_minor = 0;
  std::string name, version, compiler, cxx_abi, cuda_toolkit, torch;
  struct Check {
    std::string id, summary;
    std::uint32_t needs = 0;
    std::uint32_t default_timeout_s = 0;
  };
  std::vector<Check> checks;
};

// A plugin file and what is known of it without loading it.
struct PluginFile {
  std::filesystem::path path;
  PluginNote note;
};

// Reads the note; refuses, with the field that differs and what to do: a file that is no ELF object of this machine,
// no note, a newer ABI major, a file or folder that others may write to.
Result<PluginFile> inspect_plugin(const std::filesystem::path& file);

// The folders that are searched: $COMPATRIX_PLUGIN_PATH, then beside the executable (build tree, installed tree).
std::vector<std::filesystem::path> plugin_folders();

struct PluginCatalogue {
  std::vector<PluginFile> plugins;  // by name
  std::vector<Error> refused;       // one sentence for each file that is not usable
  // The plugin that has a check of this id, or null.
  [[nodiscard]] const PluginFile* with_check(const std::string& id) const;
};
PluginCatalogue find_plugins(const std::vector<std::filesystem::path>& folders);

// Loads the plugin into this process and returns its descriptor, valid for the life of the process.
Result<const compatrix_plugin*> load_plugin(const std::filesystem::path& file);

}  // namespace compatrix
