#include "framework/matrix/yaml_reader.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "framework/base/text.h"

namespace compatrix {
namespace {

constexpr std::size_t kLargestFile = 4U << 20;
constexpr int kMostNodes = 200'000;  // anchors share nodes, so a small file can stand for very many
constexpr int kDeepest = 40;
constexpr std::size_t kShown = 120;  // bytes of a line that are shown with an error

std::string read_whole(const std::filesystem::path& file) {
  std::error_code failure;
  if (!std::filesystem::exists(file, failure)) throw YamlFault{{file.string(), "there is no such file"}};
  if (!std::filesystem::is_regular_file(file, failure))
    throw YamlFault{{file.string(), "is no regular file; name the matrix file itself"}};
  if (std::filesystem::file_size(file, failure) > kLargestFile)
    throw YamlFault{{file.string(), "is larger than 4 MiB: no matrix file"}};
  std::ifstream in(file, std::ios::binary);
  if (!in) throw YamlFault{{file.string(), "can't be read; check its permissions"}};
  return {std::istreambuf_iterator<char>(in), {}};
}

bool begins_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) != 0x80;
}

// The line around a byte of it, cut between characters, and what must stand before a caret under that byte.
std::pair<std::string, std::string> excerpt(const std::string& line, std::size_t at) {
  std::size_t begin = at > kShown / 2 ? at - kShown / 2 : 0, end = std::min(begin + kShown, line.size());
  while (begin > 0 && !begins_character(line[begin])) --begin;
  while (end < line.size() && !begins_character(line[end])) ++end;
  const std::string before = (begin > 0 ? "… " : "") + visible_utf8(line.substr(begin, at - begin));
  std::string indent;
  for (const char byte : before)
    if (begins_character(byte)) indent += byte == '\t' ? '\t' : ' ';
  return {before + visible_utf8(line.substr(at, end - at)) + (end < line.size() ? " …" : ""), indent};
}

}  // namespace

std::vector<std::pair<YAML::Node, YAML::Node>> entries(const YAML::Node& map) {
  std::vector<std::pair<YAML::Node, YAML::Node>> all;
  for (const auto& entry : map) all.emplace_back(entry.first, entry.second);
  return all;
}

YamlReader::YamlReader(const std::filesystem::path& file) : name_(file.string()) {
  const std::string text = read_whole(file);
  lines_.emplace_back();
  for (const char c : text) {
    if (c == '\n')
      lines_.emplace_back();
    else if (c != '\r')
      lines_.back() += c;
  }
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.size() > 1)
      throw YamlFault{error_at(documents[1].Mark().line, 0, "a second document begins here; a matrix is one document")};
    if (documents.empty() || documents.front().IsNull())
      throw YamlFault{{name_, "is empty; a matrix begins with 'compatrix: 1'"}};
    root_ = documents.front();
  } catch (const YAML::Exception& failure) {
    throw YamlFault{error_at(failure.mark.line, failure.mark.column, "is no valid YAML here: " + failure.msg)};
  }
  check_node(root_, 0);
}

Error YamlReader::error_at(int line, int column, const std::string& sentence) const {
  if (line < 0 || static_cast<std::size_t>(line) >= lines_.size())
    return {fmt::format("{}:{}:{}", name_, line + 1, column + 1), sentence};
  const std::string& whole = lines_[static_cast<std::size_t>(line)];
  // yaml-cpp counts bytes; people and editors count characters.
  const std::size_t at = std::min(static_cast<std::size_t>(std::max(0, column)), whole.size());
  const auto characters =
      std::count_if(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(at), begins_character);
  const auto [shown, indent] = excerpt(whole, at);
  const std::string number = std::to_string(line + 1);
  return {fmt::format("{}:{}:{}", name_, line + 1, characters + 1),
          fmt::format("{}\n  {} | {}\n  {} | {}^", sentence, number, shown, std::string(number.size(), ' '), indent)};
}

void YamlReader::refuse(const YAML::Node& at, const std::string& sentence) const {
  throw YamlFault{error_at(at.Mark().line, at.Mark().column, sentence)};
}

// Every node once: duplicate keys, keys that are no scalars, too much of everything.
void YamlReader::check_node(const YAML::Node& node, int depth) {
  if (++visited_ > kMostNodes) refuse(node, "the file stands for too many values (anchors repeat them); write it out");
  if (depth > kDeepest) refuse(node, "is nested too deeply");
  if (node.IsSequence())
    for (const auto& item : node) check_node(item, depth + 1);
  if (!node.IsMap()) return;
  std::map<std::string, int> seen;
  for (const auto& [key, value] : entries(node)) {
    if (!key.IsScalar()) refuse(key, "a plain key was expected");
    const auto [first, fresh] = seen.emplace(key.Scalar(), line_of(key));
    if (!fresh)
      refuse(key, fmt::format("'{}' stands here a second time (first in line {})", key.Scalar(), first->second));
    check_node(value, depth + 1);
  }
}

std::string YamlReader::scalar(const YAML::Node& node, const std::string& what) const {
  if (!node.IsScalar()) refuse(node, what + " was expected: one plain value");
  return node.Scalar();
}

std::vector<std::string> YamlReader::scalars(const YAML::Node& node, const std::string& what) const {
  require_list(node, what);
  std::vector<std::string> values;
  for (const auto& item : node) values.push_back(scalar(item, what));
  return values;
}

void YamlReader::require_map(const YAML::Node& node, const std::string& what) const {
  if (!node.IsMap()) refuse(node, what + " was expected: keys and values");
}

void YamlReader::require_list(const YAML::Node& node, const std::string& what) const {
  if (!node.IsSequence()) refuse(node, what + " was expected: a list");
}

void YamlReader::allow_keys(const YAML::Node& map, std::span<const std::string> known, const std::string& what) const {
  for (const auto& [key, value] : entries(map))
    if (std::find(known.begin(), known.end(), key.Scalar()) == known.end())
      refuse(key, fmt::format("unknown key '{}' in {}{}", key.Scalar(), what, suggestion(key.Scalar(), known)));
}

}  // namespace compatrix
