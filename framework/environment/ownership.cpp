#include "framework/environment/ownership.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>
#include <unordered_map>

#include "framework/bytes/digest.h"
#include "framework/bytes/mapped_file.h"
#include "framework/wheel/dist_info.h"

namespace compatrix {
namespace {

using Claims = std::unordered_map<std::string, std::vector<FileClaim>>;

bool may_be_disputed(std::string_view path) {
  return !path.ends_with(".pyc") && path.find(".dist-info/") == std::string_view::npos;
}

std::string record_of(const Distribution& distribution, WheelLibrary& wheels) {
  if (distribution.sha256.empty()) return read_small_file(distribution.dist_info / "RECORD");
  const auto facts = wheels.wheel(distribution.sha256);
  return facts ? facts->record : "";
}

Claims claims_of(const Environment& environment, WheelLibrary& wheels) {
  Claims claims;
  for (std::size_t i = 0; i < environment.distributions.size(); ++i) {
    const auto record = wheel::parse_record(record_of(environment.distributions[i], wheels));
    if (!record) continue;  // whose checks say so
    for (const wheel::RecordEntry& entry : *record) {
      if (!may_be_disputed(entry.path)) continue;
      // An installed RECORD has the paths as they are on disk already.
      auto path = environment.installed ? std::optional(entry.path) : wheel::installed_path(entry.path);
      if (!path) continue;
      std::vector<FileClaim>& of_file = claims[std::move(*path)];
      if (of_file.empty() || of_file.back().distribution != i) of_file.push_back({i, entry.sha256});
    }
  }
  return claims;
}

bool differ(const std::vector<FileClaim>& claims) {
  return std::any_of(claims.begin(), claims.end(),
                     [&](const FileClaim& claim) { return claim.sha256 != claims.front().sha256; });
}

std::optional<std::size_t> owner_of_bytes(const std::filesystem::path& file, const std::vector<FileClaim>& claims) {
  const auto mapped = MappedFile::open(file);
  if (!mapped) return std::nullopt;
  Sha256 digest;
  digest.update((*mapped)->slice(0, (*mapped)->size()).bytes());
  const std::string sha256 = digest.base64url();
  const auto owner =
      std::find_if(claims.begin(), claims.end(), [&](const FileClaim& claim) { return claim.sha256 == sha256; });
  return owner == claims.end() ? std::nullopt : std::optional(owner->distribution);
}

}  // namespace

std::vector<DisputedFile> disputed_files(const Environment& environment, WheelLibrary& wheels) {
  std::vector<DisputedFile> disputed;
  std::error_code ignored;
  for (auto& [path, claims] : claims_of(environment, wheels)) {
    const bool contested = differ(claims);
    const bool present = !environment.installed || std::filesystem::exists(environment.site_packages / path, ignored);
    if (!contested && present) continue;
    disputed.push_back({.path = path, .claims = std::move(claims), .present = present, .bytes_of = {}});
    if (environment.installed && present && contested)
      disputed.back().bytes_of = owner_of_bytes(environment.site_packages / path, disputed.back().claims);
  }
  std::sort(disputed.begin(), disputed.end(),
            [](const DisputedFile& a, const DisputedFile& b) { return a.path < b.path; });
  return disputed;
}

}  // namespace compatrix
