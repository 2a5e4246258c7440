// How this plugin says what it found.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cell.h"

namespace torch_abi {

using Fields = std::vector<std::pair<std::string, std::string>>;

// Adds nothing for an empty value.
void add(Fields& fields, const char* key, const std::string& value);
void add(Fields& fields, const char* key, const std::vector<std::string>& values);

// `cause`: empty where the finding speaks against nothing.
void report_finding(const Cell& cell, const std::string& cause, const std::string& kind, const std::string& file,
                    const std::string& message, const Fields& fields);

// A C++ name as people write it; others as they are.
std::string readable(const std::string& symbol);
// "1 file", "2 files"
std::string plural(std::size_t count, const std::string& noun);
std::string join(const std::vector<std::string>& items, const char* separator);
void add_once(std::vector<std::string>& list, std::string value);

}  // namespace torch_abi
