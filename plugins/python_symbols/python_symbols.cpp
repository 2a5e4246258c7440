#include "plugins/python_symbols/python_symbols.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "framework/base/text.h"
#include "python_symbols_data.h"

namespace python_symbols {
namespace {

std::optional<Minor> release_or_dash(std::string_view word) {
  if (word == "-") return std::nullopt;
  const auto minor = parse_minor(word);
  if (!minor) throw std::runtime_error("python_symbols.txt: a release or - was expected, not " + std::string(word));
  return minor;
}

std::string digits_of(std::string_view python) {
  std::string digits;
  for (const char c : python)
    if (c != '.') digits += c;
  return digits;
}

}  // namespace

std::optional<Minor> parse_minor(std::string_view text) {
  if (text.ends_with('t')) text.remove_suffix(1);
  Minor minor;
  const char* end = text.data() + text.size();
  const auto major_read = std::from_chars(text.data(), end, minor.major);
  if (major_read.ec != std::errc{} || major_read.ptr == end || *major_read.ptr != '.') return std::nullopt;
  const auto minor_read = std::from_chars(major_read.ptr + 1, end, minor.minor);
  if (minor_read.ec != std::errc{} || minor_read.ptr != end) return std::nullopt;
  return minor;
}

SymbolTable SymbolTable::parse(std::string_view text) {
  SymbolTable table;
  for (const std::vector<std::string_view>& words : compatrix::table_rows(text)) {
    if (words.front() == "releases") {
      for (std::size_t i = 1; i < words.size(); ++i)
        if (const auto release = release_or_dash(words[i])) table.releases_.push_back(*release);
      continue;
    }
    if (words.size() != 4)
      throw std::runtime_error(
          "python_symbols.txt: a symbol, its first and last release and that of the stable ABI were expected");
    table.symbols_.emplace(words[0], Symbol{.first = release_or_dash(words[1]),
                                            .last = release_or_dash(words[2]),
                                            .stable_since = release_or_dash(words[3])});
  }
  if (table.releases_.empty()) throw std::runtime_error("python_symbols.txt: a line of releases was expected");
  return table;
}

const SymbolTable& SymbolTable::embedded() {
  static const SymbolTable table = parse(kPythonSymbols);
  return table;
}

const Symbol* SymbolTable::find(std::string_view symbol) const {
  const auto found = symbols_.find(symbol);
  return found == symbols_.end() ? nullptr : &found->second;
}

bool is_python_symbol(std::string_view symbol) {
  return symbol.starts_with("Py") || symbol.starts_with("_Py");
}

std::string availability(const SymbolTable& table, std::string_view symbol) {
  const Symbol* known = table.find(symbol);
  if (known == nullptr) return {};
  if (!known->first) return known->stable_since ? "since CPython " + known->stable_since->text() : "";
  std::string words;
  if (*known->first > table.oldest()) words = "since CPython " + known->first->text();
  if (known->last) words += std::string(words.empty() ? "" : " and ") + "up to CPython " + known->last->text();
  return words;
}

std::optional<ModuleName> module_name(std::string_view path) {
  constexpr std::string_view kEnding = ".so";
  if (!path.ends_with(kEnding)) return std::nullopt;
  const std::string_view stem = path.substr(0, path.size() - kEnding.size());
  const std::size_t base = stem.rfind('/') == std::string_view::npos ? 0 : stem.rfind('/') + 1;
  const std::size_t dot = stem.find('.', base);
  if (dot == std::string_view::npos) return ModuleName{.module = std::string(stem), .tag = {}};
  const std::string_view tag = stem.substr(dot + 1);
  if (tag != "abi3" && !tag.starts_with("cpython-") && !tag.starts_with("pypy") && !tag.starts_with("graalpy"))
    return std::nullopt;
  return ModuleName{.module = std::string(stem.substr(0, dot)), .tag = std::string(tag)};
}

std::vector<std::string> importer_tags(std::string_view python, std::string_view machine) {
  std::vector<std::string> tags{"cpython-" + digits_of(python) + "-" + std::string(machine) + "-linux-gnu"};
  if (!python.ends_with('t')) tags.emplace_back("abi3");
  tags.emplace_back();
  return tags;
}

std::string interpreter_of(std::string_view tag) {
  constexpr std::string_view kMark = "cpython-";
  if (!tag.starts_with(kMark)) return std::string(tag);
  const std::string_view rest = tag.substr(kMark.size());
  const std::size_t count = std::min(rest.find_first_not_of("0123456789"), rest.size());
  if (count < 2) return std::string(tag);
  const bool free_threaded = rest.substr(count).starts_with('t');
  return std::string(free_threaded ? "free-threaded " : "") + "CPython " + std::string(rest.substr(0, 1)) + "." +
         std::string(rest.substr(1, count - 1));
}

}  // namespace python_symbols
