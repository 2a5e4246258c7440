// The store of facts on disk: one folder per wheel, named by its sha256, one file per library. Files are written aside
// and renamed, so a reader sees whole facts or none; a file that can't be read counts as absent. Safe for several
// processes at once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "framework/base/result.h"
#include "framework/facts/library_facts.h"
#include "framework/facts/wheel_facts.h"

namespace compatrix::facts {

class FactStore {
 public:
  explicit FactStore(std::filesystem::path folder) : folder_(std::move(folder)) {}

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

  [[nodiscard]] std::shared_ptr<const WheelFacts> wheel(const std::string& sha256) const;
  [[nodiscard]] std::optional<LibraryFacts> library(const std::string& sha256, const std::string& member) const;
  [[nodiscard]] std::optional<std::string> text(const std::string& sha256, const std::string& member) const;
  [[nodiscard]] bool has_wheel(const std::string& sha256) const;
  [[nodiscard]] bool has_library(const std::string& sha256, const std::string& member) const;
  [[nodiscard]] bool has_text(const std::string& sha256, const std::string& member) const;

  // The wheels of which this library's facts are kept, in no order.
  [[nodiscard]] std::vector<std::string> wheels_with_library(const std::string& member) const;

  Result<Done> put_wheel(const WheelFacts& facts) const;
  Result<Done> put_library(const std::string& sha256, const std::string& member, const std::string& encoded) const;
  Result<Done> put_text(const std::string& sha256, const std::string& member, const std::string& text) const;

 private:
  [[nodiscard]] std::filesystem::path path(const std::string& sha256, const std::string& member,
                                           const char* extension) const;
  Result<Done> put(const std::filesystem::path& file, const std::string& content) const;

  std::filesystem::path folder_;
};

// $COMPATRIX_CACHE, else $XDG_CACHE_HOME/compatrix, else ~/.cache/compatrix; facts live below it in a folder that
// carries their format's number.
std::filesystem::path default_store_folder();

}  // namespace compatrix::facts
