#include "finding.h"

#include <cstdlib>
#include <memory>

#include <cxxabi.h>

#include <algorithm>

namespace torch_abi {

void add(Fields& fields, const char* key, const std::string& value) {
  if (!value.empty()) fields.emplace_back(key, value);
}

void add(Fields& fields, const char* key, const std::vector<std::string>& values) {
  for (const std::string& value : values) fields.emplace_back(key, value);
}

void report_finding(const Cell& cell, const std::string& cause, const std::string& kind, const std::string& file,
                    const std::string& message, const Fields& fields) {
  std::vector<compatrix_field> views;
  for (const auto& [key, value] : fields) views.push_back({key.c_str(), value.c_str()});
  const compatrix_finding view{.struct_size = sizeof(compatrix_finding),
                               .cause = cause.c_str(),
                               .kind = kind.c_str(),
                               .file = file.c_str(),
                               .message = message.c_str(),
                               .fields = views.data(),
                               .field_count = views.size()};
  cell.host->report_finding(cell.run, &view);
}

std::string readable(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 ? name.get() : symbol;
}

std::string plural(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string join(const std::vector<std::string>& items, const char* separator) {
  std::string joined;
  for (const std::string& item : items) joined += (joined.empty() ? "" : separator) + item;
  return joined;
}

void add_once(std::vector<std::string>& list, std::string value) {
  if (!value.empty() && std::find(list.begin(), list.end(), value) == list.end()) list.push_back(std::move(value));
}

}  // namespace torch_abi
