#include "package_data.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

#include "packages.h"

namespace torch_abi {
namespace {

using Version = std::pair<int, int>;  // of CUDA

// "128" is 12.8: a major of two digits, then the minor.
std::optional<Version> version_of_digits(std::string_view digits) {
  if (digits.size() < 3 || digits.size() > 4 || digits.find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  return Version{std::stoi(std::string(digits.substr(0, 2))), std::stoi(std::string(digits.substr(2)))};
}

Version version_of_text(std::string_view text) {
  const std::size_t dot = std::min(text.find('.'), text.size());
  const std::string major(text.substr(0, dot)), minor(dot < text.size() ? text.substr(dot + 1) : "0");
  return {std::stoi(major), std::stoi(minor)};
}

PackageData read_package(const nlohmann::json& json) {
  PackageData data{.package = json.at("package"), .source = json.at("source")};
  if (data.source.empty()) throw std::runtime_error("packages.json: " + data.package + " has no source");
  data.sequences = json.value("sequences", data.sequences);
  if (const auto found = json.find("alternatives"); found != json.end()) {
    data.alternatives_of = found->at("of");
    data.members = found->at("members").get<std::vector<std::string>>();
    data.member_files = found->at("files").get<std::vector<std::string>>();
  }
  data.by_cuda = json.value("by_cuda", "");
  data.without_cuda = json.value("without_cuda", "");
  data.on_demand = json.value("on_demand", data.on_demand);
  return data;
}

}  // namespace

std::vector<PackageData> parse_package_data(std::string_view json) {
  std::vector<PackageData> packages;
  try {
    for (const nlohmann::json& entry : nlohmann::json::parse(json)) packages.push_back(read_package(entry));
  } catch (const nlohmann::json::exception& fault) {
    throw std::runtime_error(std::string("packages.json: ") + fault.what());
  }
  return packages;
}

const std::vector<PackageData>& known_packages() {
  static const std::vector<PackageData> packages = parse_package_data(kPackages);
  return packages;
}

const PackageData* find_package(const std::vector<PackageData>& packages, std::string_view project) {
  const auto found =
      std::find_if(packages.begin(), packages.end(), [&](const auto& p) { return p.package == project; });
  return found == packages.end() ? nullptr : &*found;
}

std::string filled(std::string_view pattern, std::string_view value) {
  const std::size_t place = pattern.find("{}");
  if (place == std::string_view::npos) return std::string(pattern);
  return std::string(pattern.substr(0, place)) + std::string(value) + std::string(pattern.substr(place + 2));
}

std::vector<std::vector<std::string>> sequences_of(const PackageData& data) {
  std::vector<std::vector<std::string>> sequences = data.sequences;
  for (const std::string& member : data.members) {
    sequences.emplace_back();
    for (const std::string& pattern : data.member_files) sequences.back().push_back(filled(pattern, member));
  }
  return sequences;
}

std::optional<std::string> chosen_for_cuda(const std::vector<std::string>& files, std::string_view pattern,
                                           std::string_view cuda) {
  const std::size_t place = pattern.find("{}");
  const std::string_view before = pattern.substr(0, place), after = pattern.substr(place + 2);
  const Version wanted = version_of_text(cuda);
  std::optional<std::pair<Version, std::string>> below, above;
  for (const std::string& file : files) {
    if (!file.starts_with(before) || !file.ends_with(after) || file.size() < before.size() + after.size()) continue;
    const auto version =
        version_of_digits(std::string_view(file).substr(before.size(), file.size() - before.size() - after.size()));
    if (!version || version->first != wanted.first) continue;
    auto& best = *version <= wanted ? below : above;
    const bool better = !best || (*version <= wanted ? *version > best->first : *version < best->first);
    if (better) best = {*version, file};
  }
  if (below) return below->second;
  if (above) return above->second;
  return std::nullopt;
}

}  // namespace torch_abi
