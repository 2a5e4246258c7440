#include "tests/support/http_server.h"

#include <array>
#include <charconv>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fmt/format.h>

namespace support {
namespace {

struct AskedRange {
  bool present = false;
  std::uint64_t begin = 0, end = 0;
};

AskedRange asked_range(const std::string& request, std::uint64_t size) {
  const std::size_t at = request.find("Range: bytes=");
  if (at == std::string::npos) return {};
  AskedRange range{.present = true, .begin = 0, .end = size - 1};
  const char* text = request.c_str() + at + 13;
  const auto first = std::from_chars(text, request.c_str() + request.size(), range.begin);
  std::from_chars(first.ptr + 1, request.c_str() + request.size(), range.end);
  range.end = std::min(range.end, size - 1);
  return range;
}

std::string plain(int status, const std::string& headers, const std::string& body) {
  return fmt::format("HTTP/1.1 {} X\r\n{}Content-Length: {}\r\nConnection: close\r\n\r\n{}", status, headers,
                     body.size(), body);
}

}  // namespace

HttpServer::HttpServer(std::string content, Fault fault) : content_(std::move(content)), fault_(fault) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address);
  ::listen(listener_, 16);
  socklen_t length = sizeof address;
  ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { serve(); });
}

HttpServer::~HttpServer() {
  stopping_ = true;
  thread_.join();
  ::close(listener_);
}

std::string HttpServer::url() const {
  return fmt::format("http://user:secret@127.0.0.1:{}/made-1.0-py3-none-any.whl", port_);
}

void HttpServer::serve() {
  while (!stopping_) {
    pollfd waiting{listener_, POLLIN, 0};
    if (::poll(&waiting, 1, 50) <= 0) continue;
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) continue;
    answer(client);
    ::close(client);
  }
}

void HttpServer::answer(int client) {
  std::string request;
  while (request.find("\r\n\r\n") == std::string::npos) {
    std::array<char, 4096> piece{};
    const ssize_t n = ::recv(client, piece.data(), piece.size(), 0);
    if (n <= 0) return;
    request.append(piece.data(), static_cast<std::size_t>(n));
  }
  ++requests_;
  last_request_ = request;
  const std::string response = response_to(request);
  for (std::size_t at = 0; at < response.size();) {
    const ssize_t n = ::send(client, response.data() + at, response.size() - at, MSG_NOSIGNAL);
    if (n <= 0) return;
    at += static_cast<std::size_t>(n);
    bytes_ += static_cast<std::uint64_t>(n);
  }
  std::array<char, 1> nothing{};
  for (pollfd waiting{client, POLLIN, 0}; fault_ == Fault::stall && !stopping_;)
    if (::poll(&waiting, 1, 50) > 0 && ::recv(client, nothing.data(), 1, 0) <= 0) return;
}

std::string HttpServer::response_to(const std::string& request) {
  const int number = requests_;
  if (fault_ == Fault::reset) return "";
  if (fault_ == Fault::not_found) return plain(404, "", "no such file");
  if (fault_ == Fault::redirect_loop)
    return plain(302, fmt::format("Location: http://127.0.0.1:{}/again\r\n", port_), "");
  if (fault_ == Fault::redirect_elsewhere && request.find("Host: localhost") == std::string::npos)
    return plain(302, fmt::format("Location: http://localhost:{}/elsewhere.whl\r\n", port_), "");
  if (fault_ == Fault::unavailable_once && number == 1) return plain(503, "", "later");
  if (fault_ == Fault::too_many_once && number == 1) return plain(429, "Retry-After: 1\r\n", "slower");
  const AskedRange range = asked_range(request, content_.size());
  if (fault_ == Fault::gzip_whole) return plain(200, "Content-Encoding: gzip\r\n", content_);
  if (fault_ == Fault::unsatisfiable && range.end != 0) return plain(416, "", "");
  if (fault_ == Fault::no_ranges || !range.present) return plain(200, "", content_);
  if (fault_ == Fault::whole_but_short) {
    std::string response = plain(200, "", content_);
    return response.substr(0, response.size() - content_.size() / 2);
  }
  std::string body = content_.substr(range.begin, range.end - range.begin + 1);
  const std::uint64_t size = content_.size() - (fault_ == Fault::shorter_than_locked ? 1 : 0);
  const std::uint64_t told = range.begin + (fault_ == Fault::wrong_range && range.begin != 0 ? 1 : 0);
  std::string headers = fmt::format("Content-Range: bytes {}-{}/{}\r\nETag: \"{}\"\r\n", told, range.end, size,
                                    fault_ == Fault::changed ? number : 0);
  if (fault_ == Fault::gzip) headers += "Content-Encoding: gzip\r\n";
  std::string response = plain(206, headers, body);
  if ((fault_ == Fault::cut_body || fault_ == Fault::stall) && body.size() > 1)
    response.resize(response.size() - body.size() / 2);
  return response;
}

}  // namespace support
