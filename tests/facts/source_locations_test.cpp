// Header lines that are found in a file's bytes, wherever the pieces of a stream are cut.
#include <string>

#include <catch2/catch_all.hpp>

#include "framework/facts/source_locations.h"

using namespace compatrix::facts;

namespace {

std::vector<SourceLocation> in_pieces(const std::string& text, std::size_t piece) {
  SourceLocationScanner scanner;
  for (std::size_t at = 0; at < text.size(); at += piece)
    scanner.append(std::as_bytes(std::span(text).subspan(at, std::min(piece, text.size() - at))));
  return scanner.take();
}

const std::string kAssertion =
    "isTensor() INTERNAL ASSERT FAILED at \"/build/include/torch/include/ATen/core/ivalue.h\":652, please report";

}  // namespace

TEST_CASE("the header line that a text quotes is found, wherever the stream is cut", "[source-locations]") {
  const std::string file = std::string(3000, '\x7f') + kAssertion + std::string(500, '"');
  const std::vector<SourceLocation> expected{{"ATen/core/ivalue.h", 652}};
  for (std::size_t piece = 1; piece < 200; ++piece) CHECK(in_pieces(file, piece) == expected);
  CHECK(in_pieces(file, file.size()) == expected);
}

TEST_CASE("a text at the very end of a file is found", "[source-locations]") {
  CHECK(in_pieces("\"/x/include/a.h\":12", 7) == std::vector<SourceLocation>{{"a.h", 12}});
}

TEST_CASE("each line is kept once, in order, and what is no header line is passed over", "[source-locations]") {
  const std::string file =
      "\"/b/include/z.h\":9 \"/b/include/a.h\":70 \"/c/include/a.h\":70 \"/src/x.cpp\":5 "
      "\"json\":1 /include/unquoted.h\":3 \"/include/zero.h\":0 \"/include/text.h\":x \"\":";
  CHECK(in_pieces(file, 1000) == std::vector<SourceLocation>{{"a.h", 70}, {"z.h", 9}});
}

TEST_CASE("a file made of marks can't make the list grow without end", "[source-locations]") {
  std::string file;
  for (int line = 1; line <= 20000; ++line) file += "\"/include/h\":" + std::to_string(line) + " ";
  CHECK(in_pieces(file, 4096).size() == SourceLocationScanner::kMost);
}
