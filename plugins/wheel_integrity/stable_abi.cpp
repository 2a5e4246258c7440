// What a module named .abi3.so promises: nothing of CPython but its stable ABI, as of the release in the wheel's tag
// (PEP 384; PyPA, platform compatibility tags: "cp310-abi3").
#include <map>
#include <optional>
#include <set>

#include "compatrix/check.hpp"
#include "examination.h"
#include "framework/wheel/dist_info.h"
#include "plugins/python_symbols/python_symbols.h"

namespace wheel_integrity {
namespace {

using python_symbols::Minor;
using python_symbols::SymbolTable;

// The oldest release for which a tag promises the stable ABI.
std::optional<Minor> promised_floor(const compatrix_distribution& wheel_facts) {
  std::vector<compatrix::wheel::Tag> tags;
  if (const auto name = compatrix::wheel::parse_wheel_name(wheel_facts.file_name)) tags = name->tags;
  if (tags.empty())
    if (const auto info = compatrix::wheel::parse_wheel_info(wheel_facts.wheel))
      for (const std::string& line : info->tags)
        if (const auto expanded = compatrix::wheel::parse_wheel_name("x-1-" + line + ".whl"))
          tags.insert(tags.end(), expanded->tags.begin(), expanded->tags.end());
  std::optional<Minor> floor;
  for (const compatrix::wheel::Tag& tag : tags) {
    if (tag.abi != "abi3" || !tag.python.starts_with("cp3")) continue;
    const auto minor = python_symbols::parse_minor("3." + tag.python.substr(3));
    if (minor && (!floor || *minor < *floor)) floor = minor;
  }
  return floor;
}

}  // namespace

void examine_stable_abi(Examination& examination) {
  const SymbolTable& table = SymbolTable::embedded();
  const std::optional<Minor> floor = promised_floor(examination.wheel());
  std::map<std::string, std::string> outside, newer;  // symbol to the first file that uses it
  std::optional<Minor> newest;
  for (const std::string& path : examination.shared_objects()) {
    if (!path.ends_with(".abi3.so")) continue;
    const compatrix_elf_facts* facts = examination.elf->facts(examination.run, path.c_str());
    if (facts == nullptr) throw compatrix::sdk::FactsUnavailable{};
    for (std::size_t i = 0; i < facts->undefined_count; ++i) {
      const std::string symbol = facts->undefined[i];
      if (!python_symbols::is_python_symbol(symbol)) continue;
      const python_symbols::Symbol* known = table.find(symbol);
      if (known == nullptr || !known->stable_since) {
        outside.emplace(symbol, path);
      } else if (floor && *known->stable_since > *floor) {
        newer.emplace(symbol, path);
        if (!newest || *known->stable_since > *newest) newest = known->stable_since;
      }
    }
  }
  const auto tell = [&](const std::map<std::string, std::string>& symbols, const std::string& words) {
    if (symbols.empty()) return;
    Found found{
        .cause = "python-abi", .kind = "abi3-misuse", .file = symbols.begin()->second, .message = {}, .fields = {}};
    found.message = found.file + " is named for the stable ABI and uses " + symbols.begin()->first + words;
    if (symbols.size() > 1) found.message += " (and " + std::to_string(symbols.size() - 1) + " more such symbols)";
    for (const auto& [symbol, file] : symbols) found.fields.emplace_back("symbols", symbol);
    examination.found.push_back(std::move(found));
  };
  tell(outside, ", which is not part of it");
  if (floor && newest)
    tell(newer, ", which is part of it since a later CPython: the tag promises " + floor->text() + ", it takes " +
                    newest->text());
}

}  // namespace wheel_integrity
