#include "plugins/python_symbols/python_symbols.h"

#include <catch2/catch_all.hpp>

using namespace python_symbols;

TEST_CASE("a symbol of CPython is known by the releases that export it and by the stable ABI", "[python]") {
  const SymbolTable& table = SymbolTable::embedded();
  REQUIRE(table.find("PyModule_Create2") != nullptr);
  CHECK(table.find("PyModule_Create2")->stable_since == Minor{3, 2});
  CHECK(table.find("PyObject_GetBuffer")->stable_since == Minor{3, 11});
  CHECK_FALSE(table.find("_PyObject_GetDictPtr")->stable_since);
  CHECK(table.find("PyAST_Compile")->last == Minor{3, 8});
  CHECK(table.find("of_nobody") == nullptr);
  CHECK(availability(table, "PyModule_Add") == "since CPython 3.13");
  CHECK(availability(table, "PyAST_CompileEx") == "up to CPython 3.9");
  CHECK(availability(table, "PyModule_Create2").empty());
}

TEST_CASE("a table that is none is refused", "[python]") {
  CHECK_THROWS(SymbolTable::parse("releases 3.8\nPyA 3.8\n"));
  CHECK_THROWS(SymbolTable::parse("releases 3.8\nPyA new - -\n"));
  CHECK_THROWS(SymbolTable::parse("PyA 3.8 - -\n"));
}

TEST_CASE("a Python release is a major and a minor", "[python]") {
  CHECK(parse_minor("3.11") == Minor{3, 11});
  CHECK(parse_minor("3.13t") == Minor{3, 13});
  for (const char* text : {"", "3", "3.", ".11", "3.11.2", "3.x", "a.b"}) CHECK_FALSE(parse_minor(text));
}

TEST_CASE("the name of an extension module says which interpreter it is for", "[python]") {
  CHECK(module_name("a/_C.cpython-311-x86_64-linux-gnu.so")->module == "a/_C");
  CHECK(module_name("a/_C.cpython-311-x86_64-linux-gnu.so")->tag == "cpython-311-x86_64-linux-gnu");
  CHECK(module_name("a/ops.abi3.so")->tag == "abi3");
  CHECK(module_name("a/ops.so")->tag.empty());
  CHECK_FALSE(module_name("a/liba.so.1"));
  CHECK_FALSE(module_name("a/liba-1.2.so"));
  CHECK(importer_tags("3.11", "x86_64") == std::vector<std::string>{"cpython-311-x86_64-linux-gnu", "abi3", ""});
  CHECK(importer_tags("3.13t", "aarch64") == std::vector<std::string>{"cpython-313t-aarch64-linux-gnu", ""});
  CHECK(interpreter_of("cpython-310-x86_64-linux-gnu") == "CPython 3.10");
  CHECK(interpreter_of("cpython-313t-x86_64-linux-gnu") == "free-threaded CPython 3.13");
}
