// YAML with the traps closed (yaml-cpp): one document, no duplicate keys, scalars as their own text, a limit on what
// anchors can blow up. Errors name file, line and column, show the line, and suggest the near key.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <yaml-cpp/yaml.h>

#include "framework/base/result.h"

namespace compatrix {

// Thrown inside the matrix reader, turned into an Error at its door.
struct YamlFault {
  Error error;
};

// The keys and values of a map, in the file's order.
std::vector<std::pair<YAML::Node, YAML::Node>> entries(const YAML::Node& map);

class YamlReader {
 public:
  // Reads the file; throws YamlFault.
  explicit YamlReader(const std::filesystem::path& file);

  [[nodiscard]] const YAML::Node& root() const { return root_; }

  // A fault at a node's position, the line shown with a caret.
  [[noreturn]] void refuse(const YAML::Node& at, const std::string& sentence) const;
  [[nodiscard]] int line_of(const YAML::Node& node) const { return node.Mark().line + 1; }

  // The node as what is expected there, or refused with `what` in the sentence.
  std::string scalar(const YAML::Node& node, const std::string& what) const;
  std::vector<std::string> scalars(const YAML::Node& node, const std::string& what) const;
  void require_map(const YAML::Node& node, const std::string& what) const;
  void require_list(const YAML::Node& node, const std::string& what) const;
  // Refuses the first key that is none of `known`, with the near one.
  void allow_keys(const YAML::Node& map, std::span<const std::string> known, const std::string& what) const;

 private:
  [[nodiscard]] Error error_at(int line, int column, const std::string& sentence) const;
  void check_node(const YAML::Node& node, int depth);

  std::string name_;
  std::vector<std::string> lines_;
  YAML::Node root_;
  int visited_ = 0;
};

}  // namespace compatrix
