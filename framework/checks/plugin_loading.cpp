// Loading a plugin into this process. Apart from the rest because Boost.DLL brings the system's <elf.h>, whose macros
// have the names of our constants.
#include <exception>

#include <dlfcn.h>

// Header-only with the standard file system.
#define BOOST_DLL_USE_STD_FS
#include <fmt/format.h>
#include <boost/dll/shared_library.hpp>

#include "framework/base/text.h"
#include "framework/checks/plugin_library.h"

namespace compatrix {
namespace {

// A descriptor is believed only as far as its size says that it goes.
std::optional<std::string> descriptor_fault(const compatrix_plugin& plugin) {
  if (plugin.abi_major != COMPATRIX_ABI_MAJOR)
    return fmt::format("has ABI {}, this compatrix has {}; build it against the installed headers", plugin.abi_major,
                       COMPATRIX_ABI_MAJOR);
  if (plugin.struct_size < sizeof(compatrix_plugin))
    return fmt::format("describes itself in {} bytes, ABI {}.0 has {}", plugin.struct_size, COMPATRIX_ABI_MAJOR,
                       sizeof(compatrix_plugin));
  if (plugin.name == nullptr || plugin.check_count == 0 || plugin.checks == nullptr) return "has no name or no checks";
  for (std::size_t i = 0; i < plugin.check_count; ++i) {
    const compatrix_check* check = plugin.checks[i];
    if (check == nullptr || check->struct_size < sizeof(compatrix_check) || check->id == nullptr ||
        check->run == nullptr)
      return fmt::format("its check number {} is incomplete", i + 1);
  }
  return std::nullopt;
}

}  // namespace

Result<const compatrix_plugin*> load_plugin(const std::filesystem::path& file) try {
  namespace dll = boost::dll;
  // The throwing form: the other one loses the loader's own words, which are the evidence. RTLD_NODELETE, which
  // Boost.DLL has no name for, keeps the plugin mapped when the handle goes: its checks may outlive it.
  const auto mode =
      dll::load_mode::rtld_now | dll::load_mode::rtld_local | static_cast<dll::load_mode::type>(RTLD_NODELETE);
  const dll::shared_library library(file.string(), mode);
  if (!library.has("compatrix_plugin_entry")) return Error{file.string(), "exports no compatrix_plugin_entry"};
  const auto& plugin = library.get<const compatrix_plugin>("compatrix_plugin_entry");
  if (auto fault = descriptor_fault(plugin)) return Error{file.string(), *fault};
  return &plugin;
} catch (const std::exception& failure) {
  return Error{file.string(), std::string("can't be loaded: ") + visible_utf8(failure.what())};
}

}  // namespace compatrix
