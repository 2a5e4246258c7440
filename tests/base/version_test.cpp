#include "framework/base/version.h"

#include <catch2/catch_all.hpp>

using compatrix::SpecifierSet;
using compatrix::Version;

namespace {

Version v(const char* text) {
  return Version::parse(text).value();
}
bool allows(const char* set, const char* version) {
  return SpecifierSet::parse(set).value().contains(v(version));
}

}  // namespace

TEST_CASE("versions are ordered as PEP 440 orders its own examples", "[version]") {
  const std::vector<const char*> ascending{"1.0.dev1",       "1.0a1.dev1", "1.0a1",     "1.0a2",     "1.0b1",
                                           "1.0rc1",         "1.0",        "1.0+abc.5", "1.0+abc.7", "1.0+5",
                                           "1.0.post1.dev3", "1.0.post1",  "1.1.dev1",  "1.1",       "1!0.1"};
  for (std::size_t i = 1; i < ascending.size(); ++i) {
    INFO(ascending[i - 1] << " < " << ascending[i]);
    CHECK(v(ascending[i - 1]) < v(ascending[i]));
  }
}

TEST_CASE("local versions of CUDA builds are told apart and ordered", "[version]") {
  CHECK(v("2.10.0+cu128") < v("2.10.0+cu130"));
  CHECK(v("2.10.0") < v("2.10.0+cu128"));
  CHECK(v("2.12.0.dev20260226+cu130") < v("2.12.0"));
  CHECK(v("2.12.0.dev20260226+cu130").local() == "cu130");
  CHECK(v("2.12.0.dev20260226+cu130").public_text() == "2.12.0.dev20260226");
}

TEST_CASE("spellings that PEP 440 allows become one normal form", "[version]") {
  CHECK(v(" V1.0-Alpha.2 ").text() == "1.0a2");
  CHECK(v("1.0-1").text() == "1.0.post1");
  CHECK(v("1.0.preview3").text() == "1.0rc3");
  CHECK(v("1.0_rev").text() == "1.0.post0");
  CHECK(v("01.002").text() == "1.2");
  CHECK(v("1.0+Ubuntu-1_2").text() == "1.0+ubuntu.1.2");
  CHECK(v("1.10") != v("1.1"));
}

TEST_CASE("what is no version is refused", "[version]") {
  for (const char* text : {"", "latest", "1.", "1.0+", "1.0++a", "1.0a..", "1!", "1.0 2", "99999999999999999999"})
    CHECK_FALSE(Version::parse(text));
}

TEST_CASE("specifiers follow PEP 440", "[version]") {
  CHECK(allows(">=2.8,<2.16", "2.15.0"));
  CHECK_FALSE(allows(">=2.8,<2.16", "2.16.0"));
  CHECK(allows("==2.9.*", "2.9.1"));
  CHECK_FALSE(allows("==2.9.*", "2.90.1"));
  CHECK(allows("~=2.4", "2.99"));
  CHECK_FALSE(allows("~=2.4.1", "2.5"));
  CHECK(allows("==2.10.0", "2.10.0+cu130"));
  CHECK_FALSE(allows("==2.10.0+cu128", "2.10.0+cu130"));
  CHECK_FALSE(allows("!=2.10.0", "2.10.0+cu130"));
  CHECK_FALSE(allows(">1.0", "1.0.post1"));
  CHECK_FALSE(allows(">1.0", "1.0+local"));
  CHECK_FALSE(allows("<2.0", "2.0rc1"));
  CHECK(allows(">=1.0", "2.0rc1"));
  CHECK(allows(">=2.0rc1", "2.0rc1"));
  CHECK_FALSE(SpecifierSet::parse("=>1.0"));
  CHECK_FALSE(SpecifierSet::parse("~=1"));
  CHECK_FALSE(SpecifierSet::parse(">=1.*"));
}

TEST_CASE("an exclusive upper bound leaves out its own pre-releases and no others", "[version]") {
  CHECK(allows("<1.0.post0", "1.0rc1.post0"));
  CHECK(allows("<1.0.post1", "1.0a1.post1.dev1"));
  CHECK(allows("<1.0.post1", "1.0.post0.dev0"));
  CHECK_FALSE(allows("<1.0.post1", "1.0.post1.dev1"));
  CHECK_FALSE(allows("<1.0", "1.0.dev0"));
  CHECK(allows("<1.0rc1", "1.0a1"));
}

TEST_CASE("arbitrary equality compares text, case ignored", "[version]") {
  CHECK(allows("===1.0+CU130", "1.0+cu130"));
  CHECK_FALSE(allows("===1.0", "1.0.0"));
  CHECK_FALSE(allows("===1.*", "1.0"));  // a word like any other
  CHECK_FALSE(SpecifierSet::parse("==="));
  CHECK_FALSE(SpecifierSet::parse("===1.0 beta"));
}

TEST_CASE("a clause that PEP 440 does not know is refused, with its reason", "[version]") {
  const auto reason = [](const char* set) { return SpecifierSet::parse(set).error().text(); };
  CHECK(reason(">=2.10+cu130") ==
        ">=2.10+cu130: \">=2.10+cu130\": a local version (+...) goes with ==, != and === only");
  for (const char* set : {"==1.0rc1.*", "!=1.0.post1.*", "==1.0.dev0.*", "==1.0+cu130.*", "==1.0 .*"})
    CHECK(reason(set).ends_with(".* follows release numbers only"));
}
