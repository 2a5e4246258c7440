#include "framework/environment/fetcher.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/stat.h>

#include <fmt/format.h>

#include "framework/environment/learn_wheel.h"
#include "framework/facts/extract.h"
#include "framework/wheel/dist_info.h"
#include "framework/wheel/http.h"

namespace compatrix {
namespace {

constexpr std::uint64_t kLongestText = 4U << 20;
constexpr const char* kLocalWheels = "local-wheels";  // where the store keeps which files of this machine were read

std::string displayed(const wheel::LockedWheel& locked) {
  return locked.file_name.empty() ? locked.project : locked.file_name;
}

// What tells one state of a file of this machine from another, without reading it.
Result<std::string> file_identity(const std::filesystem::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0)
    return Error{file.string(), std::string("can't be opened: ") + std::strerror(errno)};
  return fmt::format("{}:{}:{}:{}.{:09}:{}.{:09}", status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec);
}

// The sha256 of a file that was read in this state before.
std::optional<std::string> known_digest(const facts::FactStore& store, const std::filesystem::path& file,
                                        const std::string& identity) {
  const auto text = store.text(kLocalWheels, file.string());
  if (!text || !text->starts_with(identity + " ")) return std::nullopt;
  return text->substr(identity.size() + 1);
}

// What RECORD has for a member, or empty.
std::string recorded_digest(const facts::WheelFacts& facts, const std::string& member) {
  const auto record = wheel::parse_record(facts.record);
  if (!record) return {};
  for (const wheel::RecordEntry& entry : *record)
    if (entry.path == member) return entry.sha256;
  return {};
}

}  // namespace

Fetcher::Fetcher(facts::FactStore store, FetchOptions options) : store_(std::move(store)), options_(options) {
  for (int i = 0; i < options_.transfers; ++i) threads_.emplace_back([this] { work(); });
}

Fetcher::~Fetcher() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    queue_.clear();
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Fetcher::work() {
  for (;;) {
    Task task;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (stopping_) return;
      task = std::move(queue_.front());
      queue_.pop_front();
    }
    task();
  }
}

// One piece of work for a key, however many ask for it; a failure is not remembered, so that it can be tried again.
std::shared_future<Fetcher::Outcome> Fetcher::once(const std::string& key, std::uint64_t bytes,
                                                   std::function<Outcome()> work) {
  const std::lock_guard lock(mutex_);
  if (const auto running = in_hand_.find(key); running != in_hand_.end()) return running->second;
  expected_ += bytes;
  ++open_;
  Task task([this, key, bytes, work = std::move(work)] {
    Outcome outcome = work();
    done_ += bytes;
    --open_;
    const std::lock_guard finished(mutex_);
    in_hand_.erase(key);
    return outcome;
  });
  std::shared_future<Outcome> future = task.get_future().share();
  in_hand_.emplace(key, future);
  queue_.push_back(std::move(task));
  wake_.notify_one();
  return future;
}

Result<Done> Fetcher::learn(const wheel::Lock& lock) {
  std::vector<std::shared_future<Outcome>> pending;
  std::optional<Error> first;
  for (const wheel::LockedWheel& locked : lock.wheels) {
    const std::string key = facts_key(locked);
    {
      const std::lock_guard guard(mutex_);
      wheels_.insert_or_assign(key, locked);
    }
    if (locked.path.empty() && !store_.has_wheel(key))
      pending.push_back(once(key, 0, [this, locked] { return learn_wheel(locked); }));
  }
  for (const wheel::LockedWheel& locked : lock.wheels) {
    if (locked.path.empty()) continue;
    const auto sha256 = learn_local(locked.path);
    if (!first && !sha256) first = sha256.error();
    if (!first && *sha256 != locked.sha256)
      first = Error{locked.path.string(),
                    fmt::format("the lock has sha256 {}, the file has {}: it changed since it was locked; lock again "
                                "with --refresh",
                                locked.sha256, *sha256)};
  }
  for (const auto& future : pending)
    if (const Outcome& outcome = future.get(); outcome && !first) first = outcome;
  if (first) return *first;
  return Done{};
}

Result<std::string> Fetcher::learn_local(const std::filesystem::path& file) {
  const auto identity = file_identity(file);
  if (!identity) return identity.error();
  auto known = known_digest(store_, file, *identity);
  if (known && store_.has_wheel(*known)) return *known;
  std::error_code ignored;
  const std::uint64_t size = std::filesystem::file_size(file, ignored);
  const auto future = once("local " + file.string(), size, [=, this] { return read_local(file, *identity); });
  if (const Outcome& outcome = future.get()) return *outcome;
  known = known_digest(store_, file, *identity);
  if (!known) return Error{file.string(), "changed while it was read; try again when it is written"};
  return *known;
}

std::vector<Error> Fetcher::fetch(std::span<const Want> wants) {
  std::vector<std::shared_future<Outcome>> pending;
  for (const Want& want : wants) {
    const auto facts = store_.wheel(want.sha256);
    std::uint64_t bytes = 0;
    if (facts)
      for (const auto& entry : facts->directory.entries)
        if (entry.name == want.member) bytes = entry.compressed_size;
    const std::string key = fmt::format("{}/{}{}", want.sha256, want.member, want.text ? "#text" : "");
    pending.push_back(once(key, bytes, [this, want] { return fetch_one(want); }));
  }
  std::vector<Error> errors;
  for (const auto& future : pending)
    if (const Outcome& outcome = future.get()) errors.push_back(*outcome);
  return errors;
}

Result<std::shared_ptr<RandomAccess>> Fetcher::archive(const std::string& key) {
  wheel::LockedWheel locked;
  {
    const std::lock_guard guard(mutex_);
    if (const auto open = archives_.find(key); open != archives_.end()) return open->second;
    const auto known = wheels_.find(key);
    if (known == wheels_.end()) return Error{key, "no lock says where this wheel is"};
    locked = known->second;
  }
  if (options_.offline && locked.path.empty())
    return Error{displayed(locked),
                 "its facts are not stored yet and --offline forbids reading it; run once without --offline"};
  wheel::HttpOptions http;
  http.received = &received_;
  auto opened =
      locked.path.empty() ? wheel::open_remote_file(locked.url, locked.size, http) : open_local_file(locked.path);
  if (!opened) return opened.error();
  const std::lock_guard guard(mutex_);
  return archives_.emplace(key, *opened).first->second;
}

Fetcher::Outcome Fetcher::learn_wheel(const wheel::LockedWheel& locked) {
  auto opened = archive(facts_key(locked));
  if (!opened) return opened.error();
  auto facts = read_wheel_facts(**opened, locked.file_name, facts_key(locked));
  if (!facts) return facts.error();
  const auto stored = store_.put_wheel(*facts);
  return stored ? std::nullopt : Outcome(stored.error());
}

Fetcher::Outcome Fetcher::read_local(const std::filesystem::path& file, const std::string& identity) {
  auto opened = open_local_file(file);
  if (!opened) return opened.error();
  auto wheel = read_local_wheel(**opened, file.filename().string());
  if (!wheel) return wheel.error();
  if (const auto now = file_identity(file); !now || *now != identity)
    return Error{file.string(), "changed while it was read; try again when it is written"};
  const std::string& sha256 = wheel->facts.sha256;
  for (const auto& [member, encoded] : wheel->libraries)
    if (const auto stored = store_.put_library(sha256, member, encoded); !stored) return stored.error();
  if (const auto stored = store_.put_wheel(wheel->facts); !stored) return stored.error();
  const auto stored = store_.put_text(kLocalWheels, file.string(), identity + " " + sha256);
  return stored ? std::nullopt : Outcome(stored.error());
}

Fetcher::Outcome Fetcher::fetch_one(const Want& want) {
  if (want.text ? store_.has_text(want.sha256, want.member) : store_.has_library(want.sha256, want.member)) return {};
  const auto facts = store_.wheel(want.sha256);
  if (!facts) return Error{want.member, "the wheel that has it is not known"};
  const wheel::ZipEntry* entry = nullptr;
  for (const wheel::ZipEntry& candidate : facts->directory.entries)
    if (candidate.name == want.member) entry = &candidate;
  if (entry == nullptr) return Error{facts->file_name, "has no entry " + want.member};
  auto opened = archive(want.sha256);
  if (!opened) return opened.error();
  {
    const std::lock_guard guard(mutex_);
    current_ = want.member;
  }
  if (want.text) {
    auto text = wheel::read_member(**opened, *entry, kLongestText);
    if (!text) return text.error();
    const auto stored = store_.put_text(want.sha256, want.member, *text);
    return stored ? std::nullopt : Outcome(stored.error());
  }
  auto encoded = facts::extract_library(**opened, *entry, recorded_digest(*facts, want.member));
  if (!encoded) return encoded.error();
  const auto stored = store_.put_library(want.sha256, want.member, *encoded);
  return stored ? std::nullopt : Outcome(stored.error());
}

FetchProgress Fetcher::progress() const {
  const std::lock_guard guard(mutex_);
  return {.received = received_, .expected = expected_, .done = done_, .open = open_, .current = current_};
}

}  // namespace compatrix
