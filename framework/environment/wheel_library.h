// Facts that are in use, shared between the cells that a process looks at: each wheel and each library is read from the
// store once.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "framework/facts/store.h"

namespace compatrix {

class WheelLibrary {
 public:
  explicit WheelLibrary(facts::FactStore store) : store_(std::move(store)) {}

  [[nodiscard]] const facts::FactStore& store() const { return store_; }
  std::shared_ptr<const facts::WheelFacts> wheel(const std::string& sha256);
  std::optional<facts::LibraryFacts> library(const std::string& sha256, const std::string& member);
  // A file on this machine, by path.
  struct OnDisk {
    int error = 0;  // errno of opening it; 0: it can be opened
    std::shared_ptr<const elf::ElfFile> elf;
    std::string defect;
    elf::Acceptance acceptance;
    std::string identity;  // device and inode
  };
  const OnDisk& on_disk(const std::string& path);
  // Header lines quoted in it: the whole file is read for them the first time.
  const std::vector<facts::SourceLocation>& source_locations_on_disk(const std::string& path);

 private:
  facts::FactStore store_;
  std::unordered_map<std::string, std::shared_ptr<const facts::WheelFacts>> wheels_;
  std::map<std::pair<std::string, std::string>, facts::LibraryFacts> libraries_;
  std::unordered_map<std::string, OnDisk> on_disk_;
  std::unordered_map<std::string, std::vector<facts::SourceLocation>> locations_on_disk_;
};

}  // namespace compatrix
