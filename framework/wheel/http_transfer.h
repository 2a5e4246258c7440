// One HTTP request by libcurl, with what this project demands of it: a limit on bytes and time, no credentials to
// another host, no content encoding, the response's headers at hand.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace compatrix::wheel {

struct HttpResponse {
  long status = 0;
  std::string etag, last_modified, content_encoding;
  std::optional<std::uint64_t> content_length;
  // Of a 206: the range and the whole size that Content-Range names.
  std::optional<std::uint64_t> range_begin, range_end, whole_size;
  long retry_after_s = 0;
  std::string failure;  // libcurl's word for a broken transfer; empty: it ended well
  std::uint64_t body = 0;
};

struct HttpRequest {
  std::string url;
  std::uint64_t range_begin = 0, range_end = 0;  // inclusive; both 0 with `ranged` off: the whole file
  bool ranged = false;
  long stall_seconds = 30;
  // Called once before the first byte of the body; false: take none of it.
  std::function<bool(const HttpResponse& so_far)> accept;
  std::function<bool(std::span<const std::byte> piece)> body;  // false: stop
};

// A connection that is kept between requests. One thread at a time.
class HttpConnection {
 public:
  HttpConnection();
  ~HttpConnection();
  HttpConnection(HttpConnection&&) noexcept;
  HttpConnection& operator=(HttpConnection&&) noexcept;
  HttpResponse perform(const HttpRequest& request);

 private:
  struct Handle;
  std::unique_ptr<Handle> handle_;
};

}  // namespace compatrix::wheel
