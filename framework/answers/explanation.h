// What one shared object or one wheel needs and provides, from its own bytes alone.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "framework/base/result.h"
#include "framework/elf/elf_file.h"
#include "framework/facts/wheel_facts.h"

namespace compatrix {

struct ExplainedObject {
  std::string path;                         // of the file, or inside the wheel
  std::shared_ptr<const elf::ElfFile> elf;  // null where it is no readable ELF file
  std::string defect;
};

struct Explanation {
  std::string file;
  std::shared_ptr<const facts::WheelFacts> wheel;  // of a wheel
  std::vector<ExplainedObject> objects;
};

// A path that ends in .whl is a wheel, anything else a shared object.
Result<Explanation> explain(const std::filesystem::path& file);

// {"schema": "compatrix/explain/1", …}: the object itself, or a list of them for a wheel.
nlohmann::ordered_json explanation_json(const Explanation& explanation);

// The same for people.
std::string explanation_text(const Explanation& explanation);

}  // namespace compatrix
