// Builds a graph's libraries with the assembler and the linker. What libraries are linked against are stubs with every
// symbol and version, made once for all graphs; what lies in the graph's folders may lack some.
#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <string>

#include "tests/linker_agreement/graph.h"

namespace agreement {

class Stubs {
 public:
  explicit Stubs(std::filesystem::path folder) : folder_(std::move(folder)) {}
  // A shared object that defines the library's symbols and whose soname is the needed name. Throws std::runtime_error.
  std::filesystem::path stub(const Need& need);
  // A version script for the library's symbols; no file for Versions::none.
  std::filesystem::path version_script(int library, Versions versions);

 private:
  std::filesystem::path folder_;
  std::mutex mutex_;
  std::map<std::string, std::filesystem::path> made_;
};

// Writes the graph below `root`, which is made. Throws std::runtime_error where a tool fails.
void build(const Graph& graph, const std::filesystem::path& root, Stubs& stubs);

}  // namespace agreement
