#include "string_abi.h"

#include <catch2/catch_all.hpp>

using namespace torch_abi;

namespace {

Obstacle missing(const char* symbol, const char* other) {
  return {.cause = "torch-abi",
          .kind = "undefined-symbol",
          .symbol = symbol,
          .other_string_abi = other,
          .files = {"kern/ops.abi3.so"}};
}

}  // namespace

TEST_CASE("missing functions that are there with the other std::string are counted, and which one torch has",
          "[string_abi]") {
  Judgement judgement;
  judgement.files.push_back({.path = "kern/ops.abi3.so", .outcome = COMPATRIX_LOAD_FAILS, .message = {}});
  judgement.obstacles = {missing("_ZN3c104nameEv", "c10::name[abi:cxx11]()"), missing("_ZN3c104goneEv", "")};
  const StringAbi abi = string_abi_of(judgement);
  CHECK(abi.missing == 2);
  REQUIRE(abi.other.size() == 1);
  CHECK(abi.torch_has_new);
  judgement.obstacles = {missing("_ZN3c104nameB5cxx11Ev", "c10::name()")};
  CHECK_FALSE(string_abi_of(judgement).torch_has_new);
  judgement.files.front().uncounted = "named for CPython 3.10";
  CHECK(string_abi_of(judgement).missing == 0);
}
