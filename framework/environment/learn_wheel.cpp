#include "framework/environment/learn_wheel.h"

#include <map>

#include <fmt/format.h>

#include "framework/bytes/digest.h"
#include "framework/wheel/dist_info.h"

namespace compatrix {
namespace {

constexpr std::uint64_t kLongestText = 64U << 20;

// The one .dist-info folder of an archive (PEP 427), with its slash; empty when there is none.
std::string dist_info_folder(const wheel::ZipDirectory& directory) {
  for (const wheel::ZipEntry& entry : directory.entries) {
    const std::size_t slash = entry.name.find('/');
    if (slash != std::string::npos && std::string_view(entry.name).substr(0, slash).ends_with(".dist-info"))
      return entry.name.substr(0, slash + 1);
  }
  return {};
}

Result<Done> read_texts(RandomAccess& archive, facts::WheelFacts& facts) {
  const std::string folder = dist_info_folder(facts.directory);
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

using Defects = std::vector<wheel::ZipDefect>;

// Reads every member: size and CRC are checked by the reader, the digest against RECORD here.
void verify_members(RandomAccess& archive, const facts::WheelFacts& facts, Defects& defects) {
  std::map<std::string, std::string> recorded;
  if (const auto record = wheel::parse_record(facts.record))
    for (const wheel::RecordEntry& entry : *record) recorded.emplace(entry.path, entry.sha256);
  for (const wheel::ZipEntry& entry : facts.directory.entries) {
    if (entry.name.ends_with("/")) continue;
    Sha256 digest;
    const auto read = wheel::stream_member(archive, entry, [&](std::span<const std::byte> piece) {
      digest.update(piece);
      return true;
    });
    if (!read) {
      defects.push_back({.rule = "unreadable-entry",
                         .ambiguous = true,
                         .entry = entry.name,
                         .offset = entry.local_header,
                         .message = read.error().message});
      continue;
    }
    const auto expected = recorded.find(entry.name);
    if (expected == recorded.end() || expected->second.empty()) continue;
    if (const std::string found = digest.base64url(); found != expected->second)
      defects.push_back(
          {.rule = "record-hash-mismatch",
           .ambiguous = false,
           .entry = entry.name,
           .offset = entry.local_header,
           .message = fmt::format("RECORD has sha256={}, the bytes in the archive have {}", expected->second, found)});
  }
}

Result<Done> verify_archive_digest(RandomAccess& archive, const std::string& expected) {
  Sha256 digest;
  const auto read = archive.stream(0, archive.size(), [&](std::span<const std::byte> piece) {
    digest.update(piece);
    return true;
  });
  if (!read) return read.error();
  if (const std::string found = digest.hex(); found != expected)
    return Error{archive.name(),
                 fmt::format("the lock has sha256 {}, the file has {}: it changed since it was locked; lock again "
                             "with --refresh",
                             expected, found)};
  return Done{};
}

}  // namespace

Result<facts::WheelFacts> read_wheel_facts(RandomAccess& archive, const wheel::LockedWheel& locked,
                                           const std::string& key) {
  facts::WheelFacts facts;
  facts.file_name = locked.file_name;
  facts.sha256 = key;
  facts.size = archive.size();
  auto directory = wheel::read_zip_directory(archive);
  if (!directory) return directory.error();
  facts.directory = std::move(*directory);
  if (const auto texts = read_texts(archive, facts); !texts) return texts.error();
  if (locked.path.empty()) return facts;

  if (!locked.sha256.empty())
    if (const auto same = verify_archive_digest(archive, locked.sha256); !same) return same.error();
  Defects& defects = facts.directory.defects;
  for (wheel::ZipDefect& defect : wheel::reconcile_local_headers(archive, facts.directory))
    defects.push_back(std::move(defect));
  verify_members(archive, facts, defects);
  facts.read_whole = true;
  return facts;
}

}  // namespace compatrix
