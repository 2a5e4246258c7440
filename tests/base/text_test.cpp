#include "framework/base/text.h"

#include <catch2/catch_all.hpp>

using namespace compatrix;

TEST_CASE("a mistyped word is met with the near one, a foreign one with none", "[text]") {
  const std::vector<std::string> known{"torch", "kernels", "python"};
  CHECK(nearest("troch", known) == "torch");
  CHECK(nearest("kernel", known) == "kernels");
  CHECK_FALSE(nearest("gpu", known));
  CHECK(suggestion("pyhton", known) == ", did you mean 'python'?");
}

TEST_CASE("bytes that are no text become visible, text stays as it is", "[text]") {
  CHECK(visible_utf8("naïve → fine\n\t") == "naïve → fine\n\t");
  CHECK(visible_utf8(std::string_view("a\0b", 3)) == "a\\u0000b");
  CHECK(visible_utf8("\x1b[31mred") == "\\u001B[31mred");
  CHECK(visible_utf8("\xff\xfe") == "\\xFF\\xFE");
  CHECK(visible_utf8("\xed\xa0\x80") == "\\xED\\xA0\\x80");  // a surrogate
  CHECK(visible_utf8("\xc0\xaf") == "\\xC0\\xAF");           // an overlong slash
  CHECK(visible_utf8("\xef\xbf\xbf") == "\\uFFFF");
  CHECK(visible_utf8("\xe2\x80\xae") == "\\u202E");  // right-to-left override
  CHECK(visible_utf8("\xe2\x82") == "\\xE2\\x82");   // cut in the middle
}

TEST_CASE("byte counts are said in decimal units", "[text]") {
  CHECK(byte_count(999) == "999 B");
  CHECK(byte_count(1500) == "1.5 kB");
  CHECK(byte_count(535601072) == "536 MB");
  CHECK(byte_count(1'300'000'000) == "1.3 GB");
}

TEST_CASE("a table's rows are its lines' words, without comments and empty lines", "[text]") {
  using Rows = std::vector<std::vector<std::string_view>>;
  CHECK(table_rows("# about\na  b c\n\n d\n#e f") == Rows{{"a", "b", "c"}, {"d"}});
  CHECK(table_rows("").empty());
}
