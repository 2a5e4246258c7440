#include "framework/environment/learn_wheel.h"

#include <iterator>

#include "framework/environment/whole_wheel.h"

namespace compatrix {
namespace {

constexpr std::uint64_t kLongestText = 64U << 20;

Result<Done> read_texts(RandomAccess& archive, facts::WheelFacts& facts) {
  const std::string folder = wheel::dist_info_folder(facts.directory);
  for (const wheel::ZipEntry& entry : facts.directory.entries) {
    std::string* text = entry.name == folder + "METADATA" ? &facts.metadata
                        : entry.name == folder + "WHEEL"  ? &facts.wheel
                        : entry.name == folder + "RECORD" ? &facts.record
                                                          : nullptr;
    if (folder.empty() || text == nullptr) continue;
    auto content = wheel::read_member(archive, entry, kLongestText);
    if (!content) return content.error();
    *text = std::move(*content);
  }
  return Done{};
}

}  // namespace

Result<facts::WheelFacts> read_wheel_facts(RandomAccess& archive, const std::string& file_name,
                                           const std::string& key) {
  facts::WheelFacts facts;
  facts.file_name = file_name;
  facts.sha256 = key;
  facts.size = archive.size();
  auto directory = wheel::read_zip_directory(archive);
  if (!directory) return directory.error();
  facts.directory = std::move(*directory);
  if (const auto texts = read_texts(archive, facts); !texts) return texts.error();
  return facts;
}

Result<LocalWheel> read_local_wheel(RandomAccess& archive, const std::string& file_name) {
  auto facts = read_wheel_facts(archive, file_name, "");
  if (!facts) return facts.error();
  auto whole = read_whole_wheel(archive, facts->directory, facts->record);
  if (!whole) return whole.error();
  facts->sha256 = whole->sha256;
  facts->read_whole = true;
  std::vector<wheel::ZipDefect>& defects = facts->directory.defects;
  for (wheel::ZipDefect& defect : wheel::reconcile_local_headers(archive, facts->directory))
    defects.push_back(std::move(defect));
  std::move(whole->defects.begin(), whole->defects.end(), std::back_inserter(defects));
  return LocalWheel{.facts = std::move(*facts), .libraries = std::move(whole->libraries)};
}

}  // namespace compatrix
