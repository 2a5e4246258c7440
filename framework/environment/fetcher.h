// Brings facts into the store: opens wheels where locks say they are, reads what is asked for, several at once, each
// thing once however many cells want it. The only part of an analysis that uses the network.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "framework/bytes/random_access.h"
#include "framework/environment/cell_files.h"
#include "framework/facts/store.h"
#include "framework/wheel/lock.h"

namespace compatrix {

struct FetchOptions {
  int transfers = 3;     // members read at the same time
  bool offline = false;  // only what is stored: anything else is an error that says so
};

// For people: how far the reading is.
struct FetchProgress {
  std::uint64_t received = 0;  // bytes that travelled
  std::uint64_t expected = 0;  // compressed size of all that was asked for and had to be read
  std::uint64_t done = 0;      // of `expected`, what is stored by now
  int open = 0;                // members being read or waiting
  std::string current;         // one of them
};

class Fetcher {
 public:
  Fetcher(facts::FactStore store, FetchOptions options);
  ~Fetcher();
  Fetcher(const Fetcher&) = delete;
  Fetcher& operator=(const Fetcher&) = delete;

  // Makes the wheels of a lock known: their file lists and .dist-info texts are in the store afterwards. The first
  // failure is returned; the others are tried all the same.
  Result<Done> learn(const wheel::Lock& lock);

  // Reads a wheel of this machine whole, unless this very file was read before, and returns its sha256. Its facts and
  // those of its libraries are in the store afterwards.
  Result<std::string> learn_local(const std::filesystem::path& file);

  // Brings what is wanted into the store; the errors of what could not be had. Callable from several threads.
  std::vector<Error> fetch(std::span<const Want> wants);

  [[nodiscard]] FetchProgress progress() const;

 private:
  using Outcome = std::optional<Error>;
  using Task = std::packaged_task<Outcome()>;

  std::shared_future<Outcome> once(const std::string& key, std::uint64_t bytes, std::function<Outcome()> work);
  Outcome learn_wheel(const wheel::LockedWheel& locked);
  Outcome read_local(const std::filesystem::path& file, const std::string& identity);
  Outcome fetch_one(const Want& want);
  Result<std::shared_ptr<RandomAccess>> archive(const std::string& key);
  void work();

  facts::FactStore store_;
  FetchOptions options_;
  std::atomic<std::uint64_t> received_{0}, expected_{0}, done_{0};
  std::atomic<int> open_{0};

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::deque<Task> queue_;
  std::string current_;
  std::map<std::string, std::shared_future<Outcome>> in_hand_;
  std::map<std::string, wheel::LockedWheel> wheels_;  // by facts key
  std::map<std::string, std::shared_ptr<RandomAccess>> archives_;
  std::vector<std::thread> threads_;
};

}  // namespace compatrix
