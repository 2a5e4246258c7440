#include <array>
#include <span>

#include <catch2/catch_all.hpp>

#include "framework/bytes/byte_view.h"
#include "framework/bytes/digest.h"
#include "framework/bytes/inflate.h"
#include "framework/bytes/mapped_file.h"
#include "tests/support/scratch_folder.h"

using namespace compatrix;

namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

// "hello hello hello hello\n" as a raw DEFLATE stream.
const std::string kHello("\xcb\x48\xcd\xc9\xc9\x57\xc8\x40\x27\xb9\x00", 11);

}  // namespace

TEST_CASE("a range that wraps around 64 bits is refused with its offset in the file", "[bytes]") {
  const std::string text = "0123456789";
  const ByteView view(bytes_of(text), 100);
  CHECK(view.slice(2, 3).text() == "234");
  CHECK(view.slice(2, 3).file_offset() == 102);
  CHECK_THROWS_AS(view.slice(8, 3), FormatError);
  CHECK_THROWS_AS(view.slice(~0ULL, 2), FormatError);
  CHECK_THROWS_WITH(view.u64(5), Catch::Matchers::ContainsSubstring("0x69"));
  CHECK_THROWS_AS(view.c_string(3), FormatError);
}

TEST_CASE("digests give the published answers", "[bytes]") {
  const std::string abc = "abc", nine = "123456789";
  Sha256 hex, base64;
  hex.update(bytes_of(abc));
  base64.update(bytes_of("ab"));
  base64.update(bytes_of("c"));
  CHECK(hex.hex() == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(base64.base64url() == "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0");
  CHECK(crc32(0, bytes_of(nine)) == 0xcbf43926);
  CHECK(crc32(crc32(0, bytes_of(nine).first(4)), bytes_of(nine).subspan(4)) == 0xcbf43926);
}

TEST_CASE("a deflate stream is inflated in pieces, up to its end", "[bytes]") {
  std::string out;
  Inflater inflater(24, [&](std::span<const std::byte> piece) {
    out.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    return true;
  });
  for (const char c : kHello + "xyz") REQUIRE(inflater.feed(bytes_of(std::string(1, c))));
  CHECK(out == "hello hello hello hello\n");
  CHECK(inflater.finished());
}

TEST_CASE("output beyond the declared size and damaged input are errors", "[bytes]") {
  Inflater limited(10, [](std::span<const std::byte>) { return true; });
  const auto fed = limited.feed(bytes_of(kHello));
  REQUIRE_FALSE(fed);
  CHECK_THAT(fed.error().message, Catch::Matchers::ContainsSubstring("more than its declared 10 bytes"));
  Inflater damaged(100, [](std::span<const std::byte>) { return true; });
  CHECK_FALSE(damaged.feed(bytes_of("\xff\xff\xff\xff")));
}

TEST_CASE("only regular files are mapped", "[bytes]") {
  const support::ScratchFolder folder;
  const auto mapped = MappedFile::open(folder.write("file", "content"));
  REQUIRE(mapped);
  CHECK((*mapped)->slice(3, 4).text() == "tent");
  CHECK_THROWS_AS((*mapped)->slice(3, 5), FormatError);
  CHECK(MappedFile::open(folder.write("empty", ""))->get()->size() == 0);
  CHECK_FALSE(MappedFile::open(folder.path()));
  CHECK_FALSE(MappedFile::open("/dev/zero"));
  CHECK(MappedFile::open(folder.path() / "none").error().message == "can't be opened: No such file or directory");
}
