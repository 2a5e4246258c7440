// Words on symbols of CPython's C API that the cell's interpreter does not have.
#pragma once

#include <string>

#include "judgement.h"

namespace torch_abi {

// "PyType_GetDict is not defined by this interpreter; it is there since CPython 3.12"
std::string python_sentence(const Obstacle& obstacle);

// Which Python to take instead, or which build; empty where nothing of Python's is missing.
std::string python_remedy(const Judgement& judgement, const std::string& package, const std::string& python);

}  // namespace torch_abi
