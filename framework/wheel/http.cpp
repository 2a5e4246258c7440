#include "framework/wheel/http.h"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>

#include "framework/base/text.h"
#include "framework/wheel/http_transfer.h"

namespace compatrix::wheel {
namespace {

constexpr long kLongestWait = 60;  // seconds that a Retry-After is honoured for
constexpr std::uint64_t kLargestWholeFile = 4ULL << 30;

// Whether another attempt may go better.
bool may_pass(const HttpResponse& response) {
  return !response.failure.empty() || response.status == 429 || response.status >= 500;
}

std::string describe(const HttpResponse& response) {
  return response.failure.empty() ? fmt::format("the server answered {}", response.status) : response.failure;
}

bool is_encoded(const HttpResponse& response) {
  return !response.content_encoding.empty() && response.content_encoding != "identity";
}

std::string encoding_refused(const HttpResponse& response) {
  return "the server encoded the file (" + visible_utf8(response.content_encoding) +
         "), which makes offsets in it meaningless";
}

// Waits before the attempt that follows this one; the server's word counts, within a limit.
void wait_after(int attempt, const HttpResponse& response) {
  const long milliseconds =
      response.retry_after_s > 0 ? std::min(response.retry_after_s, kLongestWait) * 1000 : 250L << attempt;
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

// Connections that are free to be used again.
class ConnectionPool {
 public:
  HttpConnection take() {
    const std::lock_guard guard(mutex_);
    if (free_.empty()) return {};
    HttpConnection connection = std::move(free_.back());
    free_.pop_back();
    return connection;
  }
  void give_back(HttpConnection connection) {
    const std::lock_guard guard(mutex_);
    free_.push_back(std::move(connection));
  }

 private:
  std::mutex mutex_;
  std::vector<HttpConnection> free_;
};

class RemoteFile : public RandomAccess {
 public:
  RemoteFile(std::string url, std::uint64_t size, std::string identity, const HttpOptions& options,
             HttpConnection opened_by)
      : url_(std::move(url)),
        name_(displayed_url(url_)),
        size_(size),
        identity_(std::move(identity)),
        options_(options) {
    pool_.give_back(std::move(opened_by));
  }

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] std::uint64_t size() const override { return size_; }

  Result<std::vector<std::byte>> read(std::uint64_t offset, std::uint64_t length) override {
    if (offset > size_ || length > size_ - offset)
      return Error{name_,
                   fmt::format("{} bytes were expected at offset {}, the file ends at {}", length, offset, size_)};
    if (length == 0) return std::vector<std::byte>{};
    std::string last;
    for (int attempt = 0; attempt <= options_.retries; ++attempt) {
      std::vector<std::byte> bytes;
      HttpResponse response;
      const auto verdict = attempt_read(offset, length, bytes, response);
      if (!verdict) return verdict.error();
      if (bytes.size() == length) return bytes;
      last = response.failure.empty() && response.status == 206
                 ? fmt::format("{} of {} bytes came", bytes.size(), length)
                 : describe(response);
      if (attempt < options_.retries) wait_after(attempt, response);
    }
    return Error{name_, fmt::format("could not be read at offset {} ({} attempts: {}); try again later", offset,
                                    options_.retries + 1, last)};
  }

  Result<Done> stream(std::uint64_t offset, std::uint64_t length, const ByteSink& sink) override;

 private:
  // Nothing: the attempt failed in a way that may pass. An Error: trying again is of no use.
  Result<Done> attempt_read(std::uint64_t offset, std::uint64_t length, std::vector<std::byte>& bytes,
                            HttpResponse& response) {
    HttpConnection connection = pool_.take();
    std::optional<Error> refusal;
    bytes.reserve(length);
    response = connection.perform(
        {.url = url_,
         .range_begin = offset,
         .range_end = offset + length - 1,
         .ranged = true,
         .stall_seconds = options_.stall_seconds,
         .accept = [&](const HttpResponse& so_far) { return accept(so_far, offset, length, refusal); },
         .body =
             [&](std::span<const std::byte> piece) {
               if (piece.size() > length - bytes.size()) return false;
               bytes.insert(bytes.end(), piece.begin(), piece.end());
               if (options_.received != nullptr) *options_.received += piece.size();
               return true;
             }});
    if (response.failure.empty()) pool_.give_back(std::move(connection));
    if (refusal) return *refusal;
    if (response.status != 206 && !may_pass(response))
      return Error{name_, describe(response) + fmt::format(" to a request for bytes {} on", offset)};
    if (response.status != 206) bytes.clear();
    return Done{};
  }

  bool accept(const HttpResponse& response, std::uint64_t offset, std::uint64_t length,
              std::optional<Error>& refusal) const {
    if (response.status != 206) {
      if (response.status == 200) refusal = Error{name_, "the server sent the whole file where a range was asked for"};
      return false;
    }
    if (is_encoded(response)) {
      refusal = Error{name_, encoding_refused(response)};
    } else if (response.range_begin != offset || response.range_end != offset + length - 1) {
      refusal = Error{name_, fmt::format("bytes {}-{} were asked for, the server says that it sends others", offset,
                                         offset + length - 1)};
    } else if (response.whole_size != size_ || identity_of(response) != identity_) {
      refusal = Error{name_, "the file changed on the server while it was read; run again"};
    }
    return !refusal;
  }

 public:
  static std::string identity_of(const HttpResponse& response) {
    return response.etag.empty() ? response.last_modified : response.etag;
  }

 private:
  std::string url_, name_;
  std::uint64_t size_;
  std::string identity_;  // ETag, else Last-Modified
  HttpOptions options_;
  ConnectionPool pool_;
};

// Chunks fetched ahead by several threads, handed on in order; never more of them in memory than connections + 1.
class ReadAhead {
 public:
  ReadAhead(RemoteFile& file, std::uint64_t offset, std::uint64_t length, const HttpOptions& options)
      : file_(file), offset_(offset), length_(length), chunk_(options.chunk), count_((length + chunk_ - 1) / chunk_) {
    for (int i = 0; i < options.connections && static_cast<std::uint64_t>(i) < count_; ++i)
      threads_.emplace_back([this] { work(); });
    window_ = threads_.size() + 1;
  }
  ~ReadAhead() {
    {
      const std::lock_guard guard(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  [[nodiscard]] std::uint64_t count() const { return count_; }

  Result<std::vector<std::byte>> take(std::uint64_t index) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ready_.contains(index); });
    auto chunk = std::move(ready_.extract(index).mapped());
    delivered_ = index + 1;
    changed_.notify_all();
    return chunk;
  }

 private:
  void work() {
    for (;;) {
      std::uint64_t index = 0;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return stopping_ || next_ >= count_ || next_ < delivered_ + window_; });
        if (stopping_ || next_ >= count_) return;
        index = next_++;
      }
      auto chunk = file_.read(offset_ + index * chunk_, std::min(chunk_, length_ - index * chunk_));
      const std::lock_guard guard(mutex_);
      stopping_ |= !chunk.ok();
      ready_.emplace(index, std::move(chunk));
      changed_.notify_all();
    }
  }

  RemoteFile& file_;
  std::uint64_t offset_, length_, chunk_, count_;
  std::uint64_t window_ = 2, next_ = 0, delivered_ = 0;
  bool stopping_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint64_t, Result<std::vector<std::byte>>> ready_;
  std::vector<std::thread> threads_;
};

Result<Done> RemoteFile::stream(std::uint64_t offset, std::uint64_t length, const ByteSink& sink) {
  if (length <= options_.chunk) {
    const auto bytes = read(offset, length);
    if (!bytes) return bytes.error();
    sink(*bytes);
    return Done{};
  }
  ReadAhead ahead(*this, offset, length, options_);
  for (std::uint64_t i = 0; i < ahead.count(); ++i) {
    const auto chunk = ahead.take(i);
    if (!chunk) return chunk.error();
    if (!sink(*chunk)) return Done{};
  }
  return Done{};
}

// A file that is read whole because its server knows no ranges; it has no name on disk any more.
class TemporaryFile {
 public:
  TemporaryFile() {
    path_ = (std::filesystem::temp_directory_path() / "compatrix-wheel-XXXXXX").string();
    descriptor_ = mkstemp(path_.data());
  }
  ~TemporaryFile() {
    if (descriptor_ < 0) return;
    ::unlink(path_.c_str());
    ::close(descriptor_);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  bool append(std::span<const std::byte> piece) const {
    return descriptor_ >= 0 && ::write(descriptor_, piece.data(), piece.size()) == static_cast<ssize_t>(piece.size());
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  int descriptor_ = -1;
};

// A local file under the name of the remote one.
class NamedFile : public RandomAccess {
 public:
  NamedFile(std::string name, std::shared_ptr<RandomAccess> file) : name_(std::move(name)), file_(std::move(file)) {}
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] std::uint64_t size() const override { return file_->size(); }
  Result<std::vector<std::byte>> read(std::uint64_t offset, std::uint64_t length) override {
    return file_->read(offset, length);
  }
  Result<Done> stream(std::uint64_t offset, std::uint64_t length, const ByteSink& sink) override {
    return file_->stream(offset, length, sink);
  }

 private:
  std::string name_;
  std::shared_ptr<RandomAccess> file_;
};

Result<std::shared_ptr<RandomAccess>> whole_file(const std::string& url, const TemporaryFile& kept,
                                                 const HttpResponse& response, std::uint64_t expected_size) {
  const std::string name = displayed_url(url);
  const std::uint64_t expected = expected_size != 0 ? expected_size : response.content_length.value_or(response.body);
  if (!response.failure.empty() || response.body != expected)
    return Error{name,
                 fmt::format("the server knows no ranges, and of the whole file {} of {} bytes came{}", response.body,
                             expected, response.failure.empty() ? "" : " (" + response.failure + ")")};
  auto opened = open_local_file(kept.path());
  if (!opened) return opened.error();
  return std::shared_ptr<RandomAccess>(std::make_shared<NamedFile>(name, *opened));
}

// The first request for a file: one byte, which tells size and identity; from a server without ranges all of it.
HttpResponse ask_first(HttpConnection& connection, const std::string& url, std::uint64_t limit,
                       const HttpOptions& options, const TemporaryFile& kept, std::optional<Error>& refusal) {
  const std::string name = displayed_url(url);
  std::uint64_t whole = 0;
  return connection.perform(
      {.url = url,
       .range_begin = 0,
       .range_end = 0,
       .ranged = true,
       .stall_seconds = options.stall_seconds,
       .accept =
           [&](const HttpResponse& response) {
             if (response.status != 200 && response.status != 206) return false;
             if (is_encoded(response)) refusal = Error{name, encoding_refused(response)};
             return !refusal;
           },
       .body =
           [&](std::span<const std::byte> piece) {
             whole += piece.size();
             if (options.received != nullptr) *options.received += piece.size();
             if (whole > limit)
               refusal = Error{name, fmt::format("the server sends more than {} bytes; was the file changed?", limit)};
             else if (!kept.append(piece))
               refusal = Error{
                   name, fmt::format("its server knows no ranges, and {} has no room for the whole file; set TMPDIR",
                                     std::filesystem::temp_directory_path().string())};
             return !refusal;
           }});
}

}  // namespace

std::string displayed_url(const std::string& url) {
  std::string plain = url.substr(0, url.find_first_of("?#"));
  const std::size_t scheme = plain.find("://");
  const std::size_t begin = scheme == std::string::npos ? 0 : scheme + 3;
  const std::size_t mark = plain.rfind('@', plain.find('/', begin));
  if (mark != std::string::npos && mark >= begin) plain.erase(begin, mark + 1 - begin);
  return plain;
}

Result<std::shared_ptr<RandomAccess>> open_remote_file(const std::string& url, std::uint64_t expected_size,
                                                       const HttpOptions& options) {
  const std::string name = displayed_url(url);
  const std::uint64_t limit = expected_size != 0 ? expected_size : kLargestWholeFile;
  HttpResponse response;
  HttpConnection connection;
  for (int attempt = 0; attempt <= options.retries; ++attempt) {
    const TemporaryFile kept;
    std::optional<Error> refusal;
    response = ask_first(connection, url, limit, options, kept, refusal);
    if (refusal) return *refusal;
    if (response.status == 200 && response.failure.empty()) return whole_file(url, kept, response, expected_size);
    if (!may_pass(response)) break;
    if (attempt < options.retries) wait_after(attempt, response);
  }
  if (response.status != 206 || !response.failure.empty())
    return Error{name, fmt::format("could not be opened: {}", describe(response))};
  if (!response.whole_size) return Error{name, "the server does not say how long the file is"};
  if (expected_size != 0 && *response.whole_size != expected_size)
    return Error{
        name, fmt::format("has {} bytes, the lock says {}: it changed since it was locked; lock again with --refresh",
                          *response.whole_size, expected_size)};
  return std::shared_ptr<RandomAccess>(std::make_shared<RemoteFile>(
      url, *response.whole_size, RemoteFile::identity_of(response), options, std::move(connection)));
}

}  // namespace compatrix::wheel
