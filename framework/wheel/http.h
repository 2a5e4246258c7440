// Remote wheels by HTTP ranges (RFC 9110, section 14), over libcurl. The file must not change between requests
// (ETag or Last-Modified is pinned); a server without ranges is read whole, within a limit, into a temporary file.
// Credentials come from the URL or netrc, never leave for another host, and never appear in a message.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "framework/bytes/random_access.h"

namespace compatrix::wheel {

struct HttpOptions {
  int connections = 4;             // ranges in flight for one stream
  std::uint64_t chunk = 8U << 20;  // bytes per range
  long stall_seconds = 30;         // less than 1 kB/s for this long: given up, then retried
  int retries = 3;                 // of a broken transfer, 429 and 5xx (Retry-After is honoured, at most 60 s)
  std::atomic<std::uint64_t>* received = nullptr;  // bytes received are added here, for progress
};

// Opens a remote file; `expected_size` (0: unknown) must agree with the server's.
Result<std::shared_ptr<RandomAccess>> open_remote_file(const std::string& url, std::uint64_t expected_size,
                                                       const HttpOptions& options);

// The URL without userinfo and query, for people to read.
std::string displayed_url(const std::string& url);

}  // namespace compatrix::wheel
