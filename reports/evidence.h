// A result in words: the lines that the table, the failure text of JUnit and later formats share.
#pragma once

#include <string>
#include <vector>

#include "framework/checks/verdict.h"

namespace compatrix {

// Evidence of a result, most telling first: what is missing, what is there instead, which files it concerns. At most
// `most` findings; a last line says how many more there are.
std::vector<std::string> evidence_lines(const CheckResult& result, std::size_t most);

// The values of a finding's field, in order.
std::vector<std::string> field_values(const Finding& finding, const std::string& key);

}  // namespace compatrix
