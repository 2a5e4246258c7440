// What is kept of a wheel: its files and where they lie in the archive, the texts of its .dist-info folder, and the
// defects that were found. Known by the wheel's sha256 and never asked for again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "framework/base/result.h"
#include "framework/bytes/byte_view.h"
#include "framework/wheel/zip.h"

namespace compatrix::facts {

class WheelFacts {
 public:
  std::string file_name;
  std::string sha256;
  std::uint64_t size = 0;
  wheel::ZipDirectory directory;
  std::string metadata, wheel, record;  // texts; empty where the archive has none
  // Every byte of the archive was read and compared with its digests; else only what was looked at was.
  bool read_whole = false;

  // Builds the index of installed paths; call once after the fields are set.
  void index();

  // The archive entry that becomes this path below site-packages, or null.
  [[nodiscard]] const wheel::ZipEntry* find(std::string_view installed_path) const;
  [[nodiscard]] bool has_directory(std::string_view installed_path) const;
  // Installed paths in archive order, with their entries. Scripts and headers, which go elsewhere, are left out.
  [[nodiscard]] const std::vector<std::pair<std::string, const wheel::ZipEntry*>>& files() const { return files_; }

 private:
  std::vector<std::pair<std::string, const wheel::ZipEntry*>> files_;
  std::unordered_map<std::string_view, const wheel::ZipEntry*> by_path_;
  std::unordered_set<std::string_view> directories_;
};

std::string encode_wheel(const WheelFacts& facts);
Result<std::shared_ptr<const WheelFacts>> decode_wheel(const std::string& name, const ByteSource& bytes);

}  // namespace compatrix::facts
