#include "framework/wheel/http_transfer.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include <curl/curl.h>
#include <fmt/format.h>

namespace compatrix::wheel {
namespace {

constexpr long kMostRedirects = 5;
constexpr long kConnectSeconds = 20;

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  return parsed.ec == std::errc() ? std::optional(value) : std::nullopt;
}

// One request in progress: what libcurl's callbacks fill.
struct Exchange {
  const HttpRequest& request;
  HttpResponse response;
  bool asked = false, refused = false, stopped = false;
};

// "bytes 0-99/1234" (RFC 9110, 14.4)
void read_content_range(std::string_view value, HttpResponse& response) {
  if (!value.starts_with("bytes ")) return;
  value.remove_prefix(6);
  const std::size_t dash = value.find('-'), slash = value.find('/');
  if (dash == std::string_view::npos || slash == std::string_view::npos || dash > slash) return;
  response.range_begin = number(value.substr(0, dash));
  response.range_end = number(value.substr(dash + 1, slash - dash - 1));
  response.whole_size = number(value.substr(slash + 1));
}

std::size_t on_header(char* data, std::size_t, std::size_t size, void* context) {
  auto& exchange = *static_cast<Exchange*>(context);
  std::string_view line(data, size);
  while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.remove_suffix(1);
  if (line.starts_with("HTTP/")) {
    exchange.response = {};  // a redirect's or an interim response's headers do not count
    const std::size_t blank = line.find(' ');
    if (blank != std::string_view::npos)
      exchange.response.status = static_cast<long>(number(line.substr(blank + 1)).value_or(0));
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return size;
  const std::string name = lower(line.substr(0, colon));
  std::string_view value = line.substr(colon + 1);
  while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
  if (name == "etag") exchange.response.etag = value;
  if (name == "last-modified") exchange.response.last_modified = value;
  if (name == "content-encoding") exchange.response.content_encoding = lower(value);
  if (name == "content-length") exchange.response.content_length = number(value);
  if (name == "content-range") read_content_range(value, exchange.response);
  if (name == "retry-after") exchange.response.retry_after_s = static_cast<long>(number(value).value_or(0));
  return size;
}

std::size_t on_body(char* data, std::size_t, std::size_t size, void* context) {
  auto& exchange = *static_cast<Exchange*>(context);
  if (!exchange.asked) {
    exchange.asked = true;
    exchange.refused = exchange.request.accept && !exchange.request.accept(exchange.response);
  }
  if (exchange.refused) return 0;
  exchange.response.body += size;
  if (exchange.request.body && !exchange.request.body({reinterpret_cast<const std::byte*>(data), size})) {
    exchange.stopped = true;
    return 0;
  }
  return size;
}

const char* certificate_bundle() {
  for (const char* name : {"SSL_CERT_FILE", "CURL_CA_BUNDLE", "PIP_CERT"})
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0') return value;
  return nullptr;
}

struct Library {
  Library() { curl_global_init(CURL_GLOBAL_DEFAULT); }
};

}  // namespace

struct HttpConnection::Handle {
  CURL* curl = nullptr;
  curl_slist* headers = nullptr;
  Handle() {
    static const Library kLibrary;  // once, before any thread uses libcurl
    curl = curl_easy_init();
    headers = curl_slist_append(nullptr, "Accept-Encoding: identity");
  }
  ~Handle() {
    curl_easy_cleanup(curl);
    curl_slist_free_all(headers);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
};

HttpConnection::HttpConnection() : handle_(std::make_unique<Handle>()) {}
HttpConnection::~HttpConnection() = default;
HttpConnection::HttpConnection(HttpConnection&&) noexcept = default;
HttpConnection& HttpConnection::operator=(HttpConnection&&) noexcept = default;

HttpResponse HttpConnection::perform(const HttpRequest& request) {
  CURL* curl = handle_->curl;
  Exchange exchange{.request = request};
  curl_easy_reset(curl);
  curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, request.url.starts_with("https") ? "https" : "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl, CURLOPT_MAXREDIRS, kMostRedirects);
  curl_easy_setopt(curl, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_OPTIONAL));
  // Separate connections: TLS work then spreads over the cores, which one HTTP/2 connection does not allow.
  curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  // As a header of our own: by its option libcurl would decode what comes encoded, and offsets would mean nothing.
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, handle_->headers);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1000L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, request.stall_seconds);
  curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, 512L << 10);
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "compatrix");
  if (const char* bundle = certificate_bundle()) curl_easy_setopt(curl, CURLOPT_CAINFO, bundle);
  const std::string range = fmt::format("{}-{}", request.range_begin, request.range_end);
  if (request.ranged) curl_easy_setopt(curl, CURLOPT_RANGE, range.c_str());
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, &on_header);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &exchange);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &on_body);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &exchange);
  const CURLcode code = curl_easy_perform(curl);
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &exchange.response.status);
  if (code != CURLE_OK && !exchange.refused && !exchange.stopped) exchange.response.failure = curl_easy_strerror(code);
  return exchange.response;
}

}  // namespace compatrix::wheel
