#include "framework/environment/whole_wheel.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "framework/bytes/digest.h"
#include "framework/facts/extract.h"
#include "framework/wheel/dist_info.h"

namespace compatrix {
namespace {

constexpr unsigned kMostThreads = 8;  // each may hold a library's tables

bool is_elf(std::span<const std::byte> bytes) {
  constexpr std::string_view kMagic(
      "\x7f"
      "ELF",
      4);
  return ByteView(bytes).text().starts_with(kMagic);
}

// One reading of one archive; members are dealt out to the threads.
class Reading {
 public:
  Reading(RandomAccess& archive, const wheel::ZipDirectory& directory, const std::string& record)
      : archive_(archive), entries_(directory.entries), defects_(entries_.size()), libraries_(entries_.size()) {
    if (const auto parsed = wheel::parse_record(record))
      for (const wheel::RecordEntry& entry : *parsed) recorded_.emplace(entry.path, entry.sha256);
    plan();
  }

  Result<WholeWheel> run() {
    const std::size_t threads = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMostThreads);
    {
      std::vector<std::jthread> running;
      for (std::size_t i = 1; i < std::min(threads, tasks_.size()); ++i) running.emplace_back([this] { work(); });
      work();
    }
    if (failure_) return *failure_;
    WholeWheel whole{.sha256 = std::move(sha256_), .defects = {}, .libraries = {}};
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (defects_[i]) whole.defects.push_back(std::move(*defects_[i]));
      if (!libraries_[i].empty()) whole.libraries.emplace_back(entries_[i].name, std::move(libraries_[i]));
    }
    return whole;
  }

 private:
  struct Task {
    std::uint64_t cost = 0;
    std::optional<std::size_t> entry;  // none: the archive's own digest
  };

  // The longest first, so that no core is left alone with a long one at the end. Inflating a byte takes about as long
  // as hashing two.
  void plan() {
    tasks_.push_back({.cost = archive_.size(), .entry = std::nullopt});
    for (std::size_t i = 0; i < entries_.size(); ++i)
      if (!entries_[i].name.ends_with("/")) tasks_.push_back({.cost = 3 * entries_[i].size, .entry = i});
    std::stable_sort(tasks_.begin(), tasks_.end(), [](const Task& a, const Task& b) { return a.cost > b.cost; });
  }

  void work() {
    for (std::size_t at = next_++; at < tasks_.size(); at = next_++) {
      if (tasks_[at].entry)
        read_member(*tasks_[at].entry);
      else
        take_digest();
    }
  }

  void take_digest() {
    auto digest = sha256_of(archive_);
    if (digest)
      sha256_ = std::move(*digest);
    else
      failure_ = digest.error();
  }

  void read_member(std::size_t index) {
    const wheel::ZipEntry& entry = entries_[index];
    Sha256 digest;
    std::optional<facts::LibraryCollector> collector;
    bool begun = false;
    const auto read = wheel::stream_member(archive_, entry, [&](std::span<const std::byte> piece) {
      digest.update(piece);
      if (!std::exchange(begun, true) && is_elf(piece)) collector.emplace(entry.size);
      if (collector) collector->append(piece);
      return true;
    });
    if (!read) {
      defects_[index] = {.rule = "unreadable-entry",
                         .ambiguous = true,
                         .entry = entry.name,
                         .offset = entry.local_header,
                         .message = read.error().message};
      return;
    }
    const std::string found = digest.base64url();
    const auto listed = recorded_.find(entry.name);
    const std::string expected = listed == recorded_.end() ? "" : listed->second;
    if (!expected.empty() && found != expected)
      defects_[index] = {
          .rule = "record-hash-mismatch",
          .ambiguous = false,
          .entry = entry.name,
          .offset = entry.local_header,
          .message = fmt::format("RECORD has sha256={}, the bytes in the archive have {}", expected, found)};
    if (collector) libraries_[index] = facts_of(*collector, entry, expected, found);
  }

  // The stored facts of a library; empty where even a further pass could not have its bytes.
  std::string facts_of(facts::LibraryCollector& collector, const wheel::ZipEntry& entry, const std::string& expected,
                       const std::string& found) {
    try {
      return collector.encode(expected.empty()    ? facts::RecordAgreement::not_listed
                              : found == expected ? facts::RecordAgreement::matches
                                                  : facts::RecordAgreement::differs);
    } catch (const facts::BytesNotKept&) {
      auto extracted = facts::extract_library(archive_, entry, expected);
      return extracted ? std::move(*extracted) : std::string();
    }
  }

  RandomAccess& archive_;
  const std::vector<wheel::ZipEntry>& entries_;
  std::unordered_map<std::string, std::string> recorded_;
  std::vector<Task> tasks_;
  std::atomic<std::size_t> next_{0};
  // Each written by one thread only.
  std::vector<std::optional<wheel::ZipDefect>> defects_;
  std::vector<std::string> libraries_;
  std::string sha256_;
  std::optional<Error> failure_;
};

}  // namespace

Result<WholeWheel> read_whole_wheel(RandomAccess& archive, const wheel::ZipDirectory& directory,
                                    const std::string& record) {
  return Reading(archive, directory, record).run();
}

}  // namespace compatrix
