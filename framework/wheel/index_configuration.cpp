#include "framework/wheel/index_configuration.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include <toml++/toml.h>

#include "framework/bytes/mapped_file.h"

namespace compatrix::wheel {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// Where programs look for a user's own configuration.
std::vector<std::filesystem::path> configuration_folders() {
  const std::string config = variable("XDG_CONFIG_HOME"), home = variable("HOME");
  if (!config.empty()) return {config};
  return home.empty() ? std::vector<std::filesystem::path>{}
                      : std::vector<std::filesystem::path>{std::filesystem::path(home) / ".config"};
}

// The addresses that one installer is configured with; the further ones are separated by blanks.
struct Indexes {
  std::string main, further, certificates;
};

void append(std::string& list, const std::string& address) {
  if (!address.empty()) list += (list.empty() ? "" : " ") + address;
}

// pip's files, the last of them counts most (pip documentation, "Configuration files").
std::vector<std::filesystem::path> pip_files() {
  const std::string named = variable("PIP_CONFIG_FILE");
  if (named == "/dev/null") return {};  // pip's way to say: none
  std::vector<std::filesystem::path> files{"/etc/pip.conf"};
  if (const std::string home = variable("HOME"); !home.empty())
    files.push_back(std::filesystem::path(home) / ".pip" / "pip.conf");
  for (const auto& folder : configuration_folders()) files.push_back(folder / "pip" / "pip.conf");
  if (!named.empty()) files.emplace_back(named);
  return files;
}

// "section.key" to value, as Python's configparser reads it: either separator, and indented lines continue a value.
void read_pip_file(const std::filesystem::path& file, std::map<std::string, std::string>& options) {
  std::ifstream in(file);
  std::string section, current;
  for (std::string line; std::getline(in, line);) {
    const std::string text = trimmed(line);
    if (text.empty() || text.starts_with('#') || text.starts_with(';')) continue;
    if (line.front() == ' ' || line.front() == '\t') {
      if (!current.empty()) append(options[current], text);
      continue;
    }
    current.clear();
    if (text.starts_with('[')) section = text;
    const std::size_t separator = text.find_first_of("=:");
    if (text.starts_with('[') || separator == std::string::npos) continue;
    std::string key = trimmed(text.substr(0, separator));
    std::replace(key.begin(), key.end(), '_', '-');
    current = section + "." + key;
    options[current] = trimmed(text.substr(separator + 1));
  }
}

Indexes configured_for_pip() {
  std::map<std::string, std::string> options;
  for (const auto& file : pip_files()) read_pip_file(file, options);
  // A variable goes before the section of the command, and that before the general one.
  const auto option = [&](const char* environment_name, const std::string& key) {
    if (const std::string value = variable(environment_name); !value.empty()) return value;
    if (const std::string& value = options["[install]." + key]; !value.empty()) return value;
    return options["[global]." + key];
  };
  return {.main = option("PIP_INDEX_URL", "index-url"),
          .further = option("PIP_EXTRA_INDEX_URL", "extra-index-url"),
          .certificates = option("PIP_CERT", "cert")};
}

// One table of uv's configuration: [[index]] with names, and the older keys.
void read_uv_table(const toml::table& table, Indexes& indexes) {
  if (const auto address = table["index-url"].value<std::string>()) indexes.main = *address;
  if (const auto* list = table["extra-index-url"].as_array())
    for (const auto& address : *list) append(indexes.further, address.value_or(std::string()));
  const auto* list = table["index"].as_array();
  if (list == nullptr) return;
  for (const auto& entry : *list) {
    const auto* index = entry.as_table();
    if (index == nullptr) continue;
    // The name goes with the address: uv looks for credentials by it.
    const std::string name = (*index)["name"].value_or(std::string());
    const std::string address = (name.empty() ? "" : name + "=") + (*index)["url"].value_or(std::string());
    if ((*index)["default"].value_or(false)) {
      indexes.main = address;
    } else {
      append(indexes.further, address);
    }
  }
}

// uv's own files are not given to uv, for they may hold more than indexes, which a lock must not depend on.
Indexes configured_for_uv() {
  std::vector<std::filesystem::path> files;
  for (const auto& folder : configuration_folders()) files.push_back(folder / "uv" / "uv.toml");
  files.emplace_back("/etc/uv/uv.toml");
  if (const std::string named = variable("UV_CONFIG_FILE"); !named.empty()) files = {named};
  Indexes indexes;
  for (const auto& file : files) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored)) continue;
    const std::string text = read_small_file(file);
    try {
      const toml::table document = toml::parse(text);
      read_uv_table(document, indexes);
      if (const auto* pip = document["pip"].as_table()) read_uv_table(*pip, indexes);
    } catch (const toml::parse_error&) {
      continue;  // uv itself will say so when it is asked for anything
    }
    if (!indexes.main.empty() || !indexes.further.empty()) break;
  }
  return indexes;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> index_environment(const std::optional<std::string>& further_index) {
  std::vector<std::pair<std::string, std::string>> set;
  const Indexes pip = configured_for_pip();
  const std::string own = variable("UV_INDEX");
  std::string further = further_index.value_or("");
  append(further, own);
  if (variable("UV_DEFAULT_INDEX").empty() && variable("UV_INDEX_URL").empty()) {
    const Indexes uv = configured_for_uv();
    const Indexes& configured = uv.main.empty() && uv.further.empty() ? pip : uv;
    if (!configured.main.empty()) set.emplace_back("UV_DEFAULT_INDEX", configured.main);
    if (own.empty() && variable("UV_EXTRA_INDEX_URL").empty()) append(further, configured.further);
  }
  if (!further.empty()) set.emplace_back("UV_INDEX", further);
  if (variable("SSL_CERT_FILE").empty() && !pip.certificates.empty())
    set.emplace_back("SSL_CERT_FILE", pip.certificates);
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
