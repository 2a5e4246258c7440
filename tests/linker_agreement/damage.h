// What happens to files on their way: bytes changed in a finished library.
#pragma once

#include <filesystem>

#include "tests/linker_agreement/graph.h"

namespace agreement {

void damage(const Library& library, const std::filesystem::path& file);

}  // namespace agreement
