#include "framework/environment/environment.h"

#include <algorithm>
#include <array>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "framework/bytes/digest.h"
#include "framework/bytes/mapped_file.h"
#include "framework/environment/interpreter.h"
#include "framework/wheel/dist_info.h"

namespace compatrix {
namespace {

// Where a cell that is not installed is imagined to be; no real file is ever looked for below it.
constexpr const char* kImaginedPrefix = "/cell";

// The level that a line of processor flags amounts to (x86-64 psABI, table 3.1; the kernel's names of the features).
int isa_level_of(const std::string& flags) {
  const std::array<std::vector<const char*>, 3> levels{
      {{"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"},
       {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"},
       {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}}};
  int level = 1;
  for (const auto& features : levels) {
    for (const char* feature : features)
      if (flags.find(fmt::format(" {} ", feature)) == std::string::npos) return level;
    ++level;
  }
  return level;
}

}  // namespace

#ifdef __aarch64__
const char* const kThisMachine = "aarch64";
#else
const char* const kThisMachine = "x86_64";
#endif

Processor this_processor() {
  static const Processor kThis = [] {
    std::ifstream in("/proc/cpuinfo");
    Processor processor;
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with("vendor_id")) processor.is_intel = line.ends_with("GenuineIntel");
      if (!line.starts_with("flags")) continue;
      processor.isa_level = isa_level_of(line + " ");
      break;
    }
    return processor;
  }();
  return kThis;
}

nlohmann::ordered_json to_json(const Environment& environment) {
  nlohmann::ordered_json json{{"python", environment.python},
                              {"machine", environment.machine},
                              {"interpreter", environment.interpreter.string()},
                              {"site_packages", environment.site_packages.string()},
                              {"installed", environment.installed},
                              {"library_path", nlohmann::ordered_json::array()},
                              {"isa_level", environment.processor.isa_level},
                              {"intel", environment.processor.is_intel},
                              {"distributions", nlohmann::ordered_json::array()}};
  for (const auto& folder : environment.library_path) json["library_path"].push_back(folder.string());
  if (!environment.platform.empty()) json["platform"] = environment.platform;
  if (!environment.working_folder.empty()) json["working_folder"] = environment.working_folder.string();
  for (const Distribution& d : environment.distributions) {
    nlohmann::ordered_json entry{{"name", d.name}, {"version", d.version}, {"requested", d.requested}};
    if (!d.file_name.empty()) entry["file_name"] = d.file_name;
    if (!d.sha256.empty()) entry["sha256"] = d.sha256;
    if (!d.dist_info.empty()) entry["dist_info"] = d.dist_info.string();
    json["distributions"].push_back(std::move(entry));
  }
  return json;
}

Environment environment_from_json(const nlohmann::json& json) {
  Environment environment;
  environment.python = json.at("python").get<std::string>();
  environment.machine = json.at("machine").get<std::string>();
  environment.interpreter = json.at("interpreter").get<std::string>();
  environment.site_packages = json.at("site_packages").get<std::string>();
  environment.installed = json.at("installed").get<bool>();
  environment.processor = {json.at("isa_level").get<int>(), json.at("intel").get<bool>()};
  for (const auto& folder : json.at("library_path")) environment.library_path.emplace_back(folder.get<std::string>());
  environment.platform = json.value("platform", "");
  environment.working_folder = json.value("working_folder", "");
  for (const auto& entry : json.at("distributions"))
    environment.distributions.push_back({.name = entry.at("name").get<std::string>(),
                                         .version = entry.at("version").get<std::string>(),
                                         .requested = entry.at("requested").get<bool>(),
                                         .file_name = entry.value("file_name", ""),
                                         .sha256 = entry.value("sha256", ""),
                                         .dist_info = entry.value("dist_info", "")});
  return environment;
}

std::string facts_key(const wheel::LockedWheel& wheel) {
  if (!wheel.sha256.empty()) return wheel.sha256;
  Sha256 digest;
  const std::string identity = fmt::format("{}\n{}\n{}", wheel.url, wheel.path.string(), wheel.size);
  digest.update(std::as_bytes(std::span(identity)));
  return "unhashed-" + digest.hex();
}

Environment environment_of(const wheel::Lock& lock, const std::vector<std::string>& requested,
                           const wheel::LockTarget& target, const std::filesystem::path& interpreter) {
  Environment environment;
  environment.python = target.python;
  environment.machine = target.machine;
  environment.platform = target.platform;
  // Of another machine's processor nothing is known: none of its files is refused for lacking capabilities.
  if (!target.platform.empty() || target.machine != kThisMachine) environment.processor = {.isa_level = 4};
  environment.interpreter = interpreter;
  environment.site_packages = fmt::format("{}/lib/python{}/site-packages", kImaginedPrefix, target.python);
  for (const wheel::LockedWheel& locked : lock.wheels)
    environment.distributions.push_back(
        {.name = locked.project,
         .version = locked.version,
         .requested = std::find(requested.begin(), requested.end(), locked.project) != requested.end(),
         .file_name = locked.file_name,
         .sha256 = facts_key(locked),
         .dist_info = {}});
  return environment;
}

Result<Environment> installed_environment(const std::filesystem::path& python) {
  auto layout = layout_of(python);
  if (!layout) return layout.error();
  Environment environment;
  environment.python = layout->version;
  environment.machine = layout->machine;
  environment.interpreter = layout->executable;
  environment.site_packages = layout->site_packages;
  environment.installed = true;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(layout->site_packages, failure)) {
    if (!entry.path().filename().string().ends_with(".dist-info")) continue;
    const auto metadata = wheel::parse_metadata(read_small_file(entry.path() / "METADATA"));
    if (!metadata) continue;  // left behind by a killed installer: no distribution
    environment.distributions.push_back({.name = wheel::normalise_project(metadata->name),
                                         .version = metadata->version,
                                         .requested = std::filesystem::exists(entry.path() / "REQUESTED", failure),
                                         .file_name = {},
                                         .sha256 = {},
                                         .dist_info = entry.path()});
  }
  if (failure) return Error{layout->site_packages.string(), "site-packages can't be read (" + failure.message() + ")"};
  std::sort(environment.distributions.begin(), environment.distributions.end(),
            [](const Distribution& a, const Distribution& b) { return a.name < b.name; });
  return environment;
}

}  // namespace compatrix
