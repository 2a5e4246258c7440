// CPython's C API by release: which releases export a symbol and since when it is part of the stable ABI (PEP 384,
// PEP 652), and what the names of extension modules say of the interpreters that import them (PEP 3149).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace python_symbols {

// A CPython minor release, as a number that compares.
struct Minor {
  int major = 0, minor = 0;
  auto operator<=>(const Minor&) const = default;
  [[nodiscard]] std::string text() const { return std::to_string(major) + "." + std::to_string(minor); }
};
// "3.11", "3.13t"; nothing for other texts.
std::optional<Minor> parse_minor(std::string_view text);

struct Symbol {
  std::optional<Minor> first;         // the first known release that exports it; nothing: none of them does
  std::optional<Minor> last;          // the last one, where a later release dropped it
  std::optional<Minor> stable_since;  // nothing: not in the stable ABI
};

class SymbolTable {
 public:
  // Throws std::runtime_error for a text that is not such a table.
  static SymbolTable parse(std::string_view text);
  // The one that was compiled in (data/python_symbols.txt).
  static const SymbolTable& embedded();

  [[nodiscard]] const Symbol* find(std::string_view symbol) const;
  // The oldest and the newest release that was looked at.
  [[nodiscard]] Minor oldest() const { return releases_.front(); }
  [[nodiscard]] Minor newest() const { return releases_.back(); }

 private:
  std::vector<Minor> releases_;
  std::map<std::string, Symbol, std::less<>> symbols_;
};

// Whether a name is of CPython's C API at all.
bool is_python_symbol(std::string_view symbol);

// Why an interpreter has no such symbol: "since CPython 3.12", "up to CPython 3.11"; empty where the table does not
// say.
std::string availability(const SymbolTable& table, std::string_view symbol);

// What the name of an extension module says: "pkg/_C.cpython-311-x86_64-linux-gnu.so" is module "pkg/_C" with that tag.
struct ModuleName {
  std::string module;  // with its folder
  std::string tag;     // "cpython-311-x86_64-linux-gnu", "abi3", or empty
};
// Nothing for names that no importer looks for ("libfoo.so.1").
std::optional<ModuleName> module_name(std::string_view path);

// The tags that an interpreter's importer looks for, in its order (_imp.extension_suffixes(), Python/dynload_shlib.c):
// its own, "abi3" unless it is free-threaded, none. `python` is "3.11" or "3.13t", `machine` "x86_64".
std::vector<std::string> importer_tags(std::string_view python, std::string_view machine);

// Which CPython a tag names, in words: "CPython 3.10", "free-threaded CPython 3.13", or the tag itself.
std::string interpreter_of(std::string_view tag);

}  // namespace python_symbols
