// A small HTTP server on the loopback address that serves one file by ranges, and can be told to misbehave.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

namespace support {

enum class Fault {
  none,
  no_ranges,            // 200 and the whole file, whatever was asked for
  cut_body,             // half of what Content-Length promises, then the connection closes
  reset,                // closes the connection without a word
  changed,              // another ETag with every answer
  wrong_range,          // Content-Range of other bytes than asked for
  shorter_than_locked,  // the whole size is one less
  gzip,                 // Content-Encoding: gzip
  gzip_whole,           // the same, and no ranges
  unsatisfiable,        // 416 for every range but the first byte
  stall,                // half of the answer, then nothing until the client gives up
  redirect_elsewhere,   // to the same server under another host name
  unavailable_once,     // 503 the first time, then well
  too_many_once,        // 429 with Retry-After: 1 the first time, then well
  not_found,            // 404
  redirect_loop,        // to itself
  whole_but_short,      // no ranges, and the body ends early
};

class HttpServer {
 public:
  HttpServer(std::string content, Fault fault);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  [[nodiscard]] std::string url() const;
  [[nodiscard]] int requests() const { return requests_; }
  [[nodiscard]] std::uint64_t bytes_sent() const { return bytes_; }
  // The last request's head. Only while no request is on its way.
  [[nodiscard]] const std::string& last_request() const { return last_request_; }

 private:
  void serve();
  void answer(int client);
  [[nodiscard]] std::string response_to(const std::string& request);

  std::string content_;
  Fault fault_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> stopping_{false};
  std::atomic<int> requests_{0};
  std::string last_request_;
  std::atomic<std::uint64_t> bytes_{0};
  std::thread thread_;
};

}  // namespace support
