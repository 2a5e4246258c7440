#include "framework/cli/arguments.h"

#include <cstdio>

#include <fmt/format.h>

#include "framework/base/text.h"

namespace compatrix::cli {
namespace {

// cxxopts quotes with typographic marks, which not every terminal has.
std::string plain_quotes(std::string text) {
  for (const std::string_view mark : {"\u2018", "\u2019"})
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1))
      text.replace(at, mark.size(), "'");
  return text;
}

}  // namespace

void print_error(const std::string& text) {
  fmt::print(stderr, "error: {}\n", visible_utf8(text));
}

ParsedArguments parse(cxxopts::Options& options, const std::string& name, const Arguments& arguments) {
  options.add_options()("h,help", "Show this help");
  std::vector<const char*> values{name.c_str()};
  for (const std::string& argument : arguments) values.push_back(argument.c_str());
  try {
    auto result = options.parse(static_cast<int>(values.size()), values.data());
    if (result.count("help") == 0) return {std::move(result), 0};
    fmt::print("{}", options.help());
    return {std::nullopt, 0};
  } catch (const cxxopts::exceptions::exception& failure) {
    std::vector<std::string> known;
    for (const std::string& group : options.groups())
      for (const auto& option : options.group_help(group).options)
        known.push_back("--" + (option.l.empty() ? "" : option.l.front()));
    std::string near;
    for (const std::string& argument : arguments)
      if (argument.starts_with("--") && near.empty())
        if (const std::string word = argument.substr(0, argument.find('='));
            std::find(known.begin(), known.end(), word) == known.end())
          near = suggestion(word, known);
    print_error(plain_quotes(failure.what()) + near + "; see compatrix " + name + " --help");
    return {std::nullopt, kUsage};
  }
}

}  // namespace compatrix::cli
