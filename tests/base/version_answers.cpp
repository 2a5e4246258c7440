// Answers lines on standard input: "order A B" with <, =, > or "invalid"; "contains SET|VERSION" with yes, no or
// "invalid".
#include <iostream>
#include <string>

#include "framework/base/version.h"

using compatrix::SpecifierSet;
using compatrix::Version;

namespace {

std::string order(const std::string& line) {
  const std::size_t bar = line.find('|');
  const auto a = Version::parse(line.substr(0, bar)), b = Version::parse(line.substr(bar + 1));
  if (!a || !b) return "invalid";
  return *a < *b ? "<" : *b < *a ? ">" : "=";
}

std::string contains(const std::string& line) {
  const std::size_t bar = line.find('|');
  const auto set = SpecifierSet::parse(line.substr(0, bar));
  const auto version = Version::parse(line.substr(bar + 1));
  if (!set || !version) return "invalid";
  return set->contains(*version) ? "yes" : "no";
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);)
    std::cout << (line.starts_with("order ") ? order(line.substr(6)) : contains(line.substr(9))) << '\n';
}
