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

// What the plugin says of itself now, against the note that it was chosen by.
std::optional<std::string> disagreement(const compatrix_plugin& plugin, const PluginNote& note) {
  if (plugin.abi_minor != note.abi_minor || visible_utf8(plugin.name) != note.name)
    return fmt::format("describes itself as {} with ABI {}.{}, its note says {} with ABI {}.{}",
                       visible_utf8(plugin.name), plugin.abi_major, plugin.abi_minor, note.name, note.abi_major,
                       note.abi_minor);
  if (plugin.check_count != note.checks.size())
    return fmt::format("has {} checks, its note has {}", plugin.check_count, note.checks.size());
  for (std::size_t i = 0; i < plugin.check_count; ++i) {
    const compatrix_check& check = *plugin.checks[i];
    const PluginNote::Check& noted = note.checks[i];
    if (visible_utf8(check.id) != noted.id || check.needs != noted.needs ||
        check.default_timeout_s != noted.default_timeout_s)
      return fmt::format("has check \"{}|{}|{}\" where its note has \"{}|{}|{}\"", visible_utf8(check.id), check.needs,
                         check.default_timeout_s, noted.id, noted.needs, noted.default_timeout_s);
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
  const auto inspected = inspect_plugin(file);
  if (!inspected) return inspected.error();
  if (const auto fault = disagreement(plugin, inspected->note))
    return Error{file.string(), *fault + "; make the text given to COMPATRIX_PLUGIN agree and build it again"};
  return &plugin;
} catch (const std::exception& failure) {
  return Error{file.string(), std::string("can't be loaded: ") + visible_utf8(failure.what())};
}

}  // namespace compatrix
