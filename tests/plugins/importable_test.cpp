#include "importable.h"

#include <catch2/catch_all.hpp>

using namespace torch_abi;

namespace {
const Interpreter kPython{.python = "3.11", .machine = "x86_64"};
}

TEST_CASE("modules named for another interpreter or machine are passed over", "[importable]") {
  const auto others = passed_over({"a/_C.cpython-310-x86_64-linux-gnu.so", "a/_D.cpython-311-x86_64-linux-gnu.so",
                                   "a/_E.cpython-311-aarch64-linux-gnu.so", "a/_F.cpython-311t-x86_64-linux-gnu.so",
                                   "a/ops.abi3.so", "a/liba.so.1", "a/libb.so"},
                                  kPython);
  CHECK(others.size() == 3);
  CHECK(others.at("a/_C.cpython-310-x86_64-linux-gnu.so") == "named for CPython 3.10");
  CHECK(others.at("a/_E.cpython-311-aarch64-linux-gnu.so") ==
        "named for another machine (cpython-311-aarch64-linux-gnu)");
  CHECK(others.at("a/_F.cpython-311t-x86_64-linux-gnu.so") == "named for free-threaded CPython 3.11");
}

TEST_CASE("a free-threaded interpreter imports no module of the stable ABI", "[importable]") {
  const auto others = passed_over({"a/ops.abi3.so"}, {.python = "3.13t", .machine = "x86_64"});
  CHECK(others.at("a/ops.abi3.so") == "named for the stable ABI, which a free-threaded CPython does not have");
}

TEST_CASE("of several files for one module the importer's first suffix wins", "[importable]") {
  const std::vector<std::string> files{"a/_C.so", "a/_C.abi3.so", "a/_C.cpython-311-x86_64-linux-gnu.so", "b/_C.so"};
  const auto others = passed_over(files, kPython);
  CHECK(others.size() == 2);
  CHECK(others.at("a/_C.so") == "a module that _C.abi3.so is imported for instead");
  CHECK(others.at("a/_C.abi3.so") == "a module that _C.cpython-311-x86_64-linux-gnu.so is imported for instead");
}

TEST_CASE("a package with modules for other interpreters only is told from one that has a module for this one",
          "[importable]") {
  CHECK(only_for_others({"a/_C.cpython-310-x86_64-linux-gnu.so", "a/_D.cpython-310-x86_64-linux-gnu.so"}, kPython) ==
        "CPython 3.10");
  CHECK(only_for_others({"a/_C.cpython-310-x86_64-linux-gnu.so", "a/ops.abi3.so"}, kPython).empty());
  CHECK(only_for_others({"a/liba.so", "a/libb.so.1"}, kPython).empty());
}
