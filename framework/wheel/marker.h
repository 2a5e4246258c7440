// Environment markers of PEP 508, evaluated for a declared target: which requirements of a distribution apply there.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "framework/base/result.h"

namespace compatrix::wheel {

// Values of the marker variables, by their names in PEP 508.
using MarkerValues = std::map<std::string, std::string, std::less<>>;

// CPython of that minor version on Linux.
MarkerValues marker_values(const std::string& python, const std::string& machine);

// The Error says what was not understood and where.
Result<bool> marker_holds(std::string_view marker, const MarkerValues& values);

}  // namespace compatrix::wheel
