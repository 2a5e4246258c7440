// A library of a graph as assembly text (x86-64, GNU as), and the version script it is linked with.
#pragma once

#include <string>

#include "tests/linker_agreement/graph.h"

namespace agreement {

std::string assembly_of(const Library& library);
std::string version_script_text(int library, Versions versions);

}  // namespace agreement
