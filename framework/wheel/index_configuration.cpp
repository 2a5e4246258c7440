#include "framework/wheel/index_configuration.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace compatrix::wheel {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// pip's files, the last of them counts most (pip documentation, "Configuration files").
std::vector<std::filesystem::path> pip_files() {
  std::vector<std::filesystem::path> files{"/etc/pip.conf"};
  if (const std::string home = variable("HOME"); !home.empty()) {
    files.push_back(std::filesystem::path(home) / ".pip" / "pip.conf");
    const std::string config = variable("XDG_CONFIG_HOME");
    files.push_back((config.empty() ? std::filesystem::path(home) / ".config" : std::filesystem::path(config)) / "pip" /
                    "pip.conf");
  }
  if (const std::string named = variable("PIP_CONFIG_FILE"); !named.empty()) files.emplace_back(named);
  return files;
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// One option of pip: its variable, else the [global] or [install] section of its files.
std::string pip_option(const char* environment_name, const std::string& key) {
  if (const std::string value = variable(environment_name); !value.empty()) return value;
  std::string found;
  for (const auto& file : pip_files()) {
    std::ifstream in(file);
    bool relevant = false;
    for (std::string line; std::getline(in, line);) {
      line = trimmed(line);
      if (line.starts_with('[')) relevant = line == "[global]" || line == "[install]";
      const std::size_t equals = line.find('=');
      if (relevant && equals != std::string::npos && trimmed(line.substr(0, equals)) == key)
        found = trimmed(line.substr(equals + 1));
    }
  }
  return found;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> index_environment(const std::optional<std::string>& further_index) {
  std::vector<std::pair<std::string, std::string>> set;
  const bool uv_has_default = !variable("UV_DEFAULT_INDEX").empty() || !variable("UV_INDEX_URL").empty();
  std::string further = further_index.value_or("");
  if (!uv_has_default) {
    if (const std::string index = pip_option("PIP_INDEX_URL", "index-url"); !index.empty())
      set.emplace_back("UV_DEFAULT_INDEX", index);
    if (const std::string extra = pip_option("PIP_EXTRA_INDEX_URL", "extra-index-url"); !extra.empty())
      further += (further.empty() ? "" : " ") + extra;
  }
  if (const std::string own = variable("UV_INDEX"); !own.empty()) further += (further.empty() ? "" : " ") + own;
  if (!further.empty()) set.emplace_back("UV_INDEX", further);
  if (variable("SSL_CERT_FILE").empty())
    if (const std::string bundle = pip_option("PIP_CERT", "cert"); !bundle.empty())
      set.emplace_back("SSL_CERT_FILE", bundle);
  return set;
}

std::string without_credentials(std::string text) {
  for (std::size_t at = text.find("://"); at != std::string::npos; at = text.find("://", at + 3)) {
    const std::size_t begin = at + 3;
    const std::size_t end = std::min(text.find_first_of("/ \t\n`'\"", begin), text.size());
    const std::size_t mark = text.rfind('@', end);
    if (mark != std::string::npos && mark > begin && mark < end) text.erase(begin, mark + 1 - begin);
  }
  return text;
}

}  // namespace compatrix::wheel
