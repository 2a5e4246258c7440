#include "framework/wheel/http.h"

#include <atomic>

#include <catch2/catch_all.hpp>

#include "framework/wheel/zip.h"
#include "tests/support/http_server.h"
#include "tests/support/wheel_writer.h"

using namespace compatrix;
using Catch::Matchers::ContainsSubstring;
using support::Fault;
using support::HttpServer;

namespace {

std::string made_content() {
  std::string content;
  for (int i = 0; i < 300'000; ++i) content += static_cast<char>(i * 7 + i / 251);
  return content;
}

wheel::HttpOptions quick() {
  return {.connections = 3, .chunk = 20'000, .stall_seconds = 2, .retries = 1};
}

// The whole content read as one stream, or the error.
Result<std::string> streamed(const HttpServer& server, std::uint64_t expected_size) {
  const auto file = wheel::open_remote_file(server.url(), expected_size, quick());
  if (!file) return file.error();
  std::string content;
  const auto done = (*file)->stream(0, (*file)->size(), [&](std::span<const std::byte> piece) {
    content.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    return true;
  });
  if (!done) return done.error();
  return content;
}

}  // namespace

TEST_CASE("a remote file is streamed in order over several connections", "[http]") {
  const std::string content = made_content();
  std::atomic<std::uint64_t> received{0};
  const HttpServer server(content, Fault::none);
  auto options = quick();
  options.received = &received;
  const auto file = wheel::open_remote_file(server.url(), content.size(), options);
  REQUIRE(file);
  CHECK((*file)->name().find("secret") == std::string::npos);
  std::string streamed_content;
  REQUIRE((*file)->stream(5, content.size() - 5, [&](std::span<const std::byte> piece) {
    streamed_content.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    return true;
  }));
  CHECK(streamed_content == content.substr(5));
  CHECK(received >= content.size() - 5);
  CHECK_FALSE((*file)->read(content.size() - 1, 2));
}

TEST_CASE("a wheel's list of files costs a few kilobytes of a large one", "[http]") {
  const std::string large = support::write_wheel("made", "1.0", "py3-none-any",
                                                 {{.name = "made/large.bin", .content = std::string(3'000'000, 'x')}});
  const HttpServer server(large, Fault::none);
  const auto file = wheel::open_remote_file(server.url(), large.size(), {});
  REQUIRE(file);
  REQUIRE(wheel::read_zip_directory(**file));
  CHECK(server.bytes_sent() < 100'000);
}

TEST_CASE("a server that misbehaves gives a right answer or a clear error, never a wrong one", "[http]") {
  const std::string content = made_content();
  const auto [fault, sentence] = GENERATE(table<Fault, std::string>({
      {Fault::no_ranges, ""},
      {Fault::unavailable_once, ""},
      {Fault::too_many_once, ""},
      {Fault::redirect_elsewhere, ""},
      {Fault::cut_body, "could not be read at offset"},
      {Fault::reset, "could not be opened"},
      {Fault::changed, "the file changed on the server"},
      {Fault::wrong_range, "the server says that it sends others"},
      {Fault::shorter_than_locked, "it changed since it was locked"},
      {Fault::gzip, "the server encoded the file"},
      {Fault::gzip_whole, "the server encoded the file"},
      {Fault::unsatisfiable, "the server answered 416"},
      {Fault::not_found, "the server answered 404"},
      {Fault::redirect_loop, "could not be opened"},
      {Fault::whole_but_short, "could not be opened"},
  }));
  CAPTURE(static_cast<int>(fault));
  const HttpServer server(content, fault);
  const auto got = streamed(server, content.size());
  if (sentence.empty()) {
    REQUIRE(got);
    CHECK(*got == content);
  } else {
    REQUIRE_FALSE(got);
    CHECK_THAT(got.error().text(), ContainsSubstring(sentence));
    CHECK(got.error().text().find("secret") == std::string::npos);
  }
  CHECK(server.requests() < 60);
}

TEST_CASE("a server that stops sending is given up with a clear error", "[http]") {
  const HttpServer server(made_content(), Fault::stall);
  auto options = quick();
  options.stall_seconds = 1;
  options.retries = 0;
  const auto file = wheel::open_remote_file(server.url(), 300'000, options);
  REQUIRE(file);
  const auto read = (*file)->read(0, 1000);
  REQUIRE_FALSE(read);
  CHECK_THAT(read.error().message, ContainsSubstring("could not be read at offset 0 (1 attempts: Timeout"));
}

TEST_CASE("credentials do not go with a redirect to another host, and encodings are asked for nowhere", "[http]") {
  const std::string content = made_content();
  const HttpServer server(content, Fault::redirect_elsewhere), plain(content, Fault::none);
  REQUIRE(wheel::open_remote_file(server.url(), content.size(), quick()));
  CHECK_THAT(server.last_request(), ContainsSubstring("Host: localhost"));
  CHECK_THAT(server.last_request(), !ContainsSubstring("Authorization"));
  REQUIRE(wheel::open_remote_file(plain.url(), content.size(), quick()));
  CHECK_THAT(plain.last_request(), ContainsSubstring("Authorization"));
  CHECK_THAT(plain.last_request(), ContainsSubstring("Accept-Encoding: identity"));
}

TEST_CASE("a server without ranges can't fill the disk beyond the size that was locked", "[http]") {
  const std::string content = made_content();
  const HttpServer server(content, Fault::no_ranges);
  CHECK_THAT(wheel::open_remote_file(server.url(), 1000, quick()).error().message,
             ContainsSubstring("sends more than 1000 bytes"));
}

TEST_CASE("an address is shown without its credentials and query", "[http]") {
  CHECK(wheel::displayed_url("https://user:token@host/a/b.whl?sig=1#x") == "https://host/a/b.whl");
  CHECK(wheel::displayed_url("https://host/a@b.whl") == "https://host/a@b.whl");
}
