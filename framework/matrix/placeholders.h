// {axis} placeholders in requirements.
#pragma once

#include <string>
#include <vector>

#include "framework/base/result.h"
#include "framework/matrix/matrix.h"

namespace compatrix {

// The names in braces; the Error says what is wrong with an unclosed or empty one.
Result<std::vector<std::string>> placeholders_of(const std::string& requirement);

}  // namespace compatrix
