#include "framework/linker/search_path.h"

#include <algorithm>

#include "framework/elf/elf_file.h"

namespace compatrix::linker {
namespace {

bool continues_name(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

// How many characters after the dollar sign are the token, in braces or not; 0: it is another one.
std::size_t token_length(std::string_view text, std::string_view token) {
  const bool braces = text.starts_with('{');
  if (braces) text.remove_prefix(1);
  if (!text.starts_with(token)) return 0;
  const char next = text.size() > token.size() ? text[token.size()] : '\0';
  if (braces) return next == '}' ? token.size() + 2 : 0;
  return continues_name(next) ? 0 : token.size();
}

// Every subset of the names, joined by slashes, the last name first and the fullest path first.
std::vector<std::string> combinations(const std::vector<std::string>& names) {
  std::vector<std::string> paths;
  for (std::size_t set = std::size_t{1} << names.size(); set-- > 0;) {
    std::string path;
    for (std::size_t i = names.size(); i-- > 0;)
      if ((set >> i & 1) != 0) path += names[i] + "/";
    paths.push_back(std::move(path));
  }
  return paths;
}

}  // namespace

Capabilities capabilities_of(std::uint16_t elf_machine, const Processor& processor) {
  if (elf_machine == elf::EM_AARCH64) return {"lib/aarch64-linux-gnu", "aarch64", combinations({"aarch64", "tls"})};
  Capabilities found{"lib/x86_64-linux-gnu", "x86_64", {}};
  std::vector<std::string> names{"x86_64"};
  if (processor.is_intel && processor.isa_level >= 4) names.emplace_back("avx512_1");
  if (processor.is_intel && processor.isa_level >= 3) found.platform = "haswell";
  names.push_back(found.platform);
  names.emplace_back("tls");
  for (int level = processor.isa_level; level >= 2; --level)
    found.subfolders.push_back("glibc-hwcaps/x86-64-v" + std::to_string(level) + "/");
  std::vector<std::string> older = combinations(names);
  found.subfolders.insert(found.subfolders.end(), older.begin(), older.end());
  return found;
}

std::string expand_tokens(std::string_view text, const std::string& origin, const Capabilities& capabilities) {
  std::string expanded;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '$') {
      expanded += text[at++];
      continue;
    }
    const std::string_view rest = text.substr(at + 1);
    const std::pair<const char*, const std::string*> tokens[] = {
        {"ORIGIN", &origin}, {"PLATFORM", &capabilities.platform}, {"LIB", &capabilities.lib}};
    const auto* token = std::find_if(std::begin(tokens), std::end(tokens),
                                     [&](const auto& t) { return token_length(rest, t.first) != 0; });
    expanded += token == std::end(tokens) ? "$" : *token->second;
    at += 1 + (token == std::end(tokens) ? 0 : token_length(rest, token->first));
  }
  return expanded;
}

std::vector<std::string> split_search_path(std::string_view path, std::string_view separators,
                                           const std::string& origin, const Capabilities& capabilities) {
  std::vector<std::string> folders;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find_first_of(separators, at), path.size());
    std::string folder = expand_tokens(path.substr(at, end - at), origin, capabilities);
    while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
    if (!folder.empty() && !folder.ends_with('/')) folder += '/';
    if (std::find(folders.begin(), folders.end(), folder) == folders.end()) folders.push_back(std::move(folder));
    at = end + 1;
  }
  return folders;
}

}  // namespace compatrix::linker
