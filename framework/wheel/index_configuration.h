// Which indexes uv or, where it has none, pip is configured with, handed to uv by the environment. uv's variables
// stand as they are.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace compatrix::wheel {

// Variables to set for uv: the configured indexes, the further index in front of them, the certificate bundle. Never on
// a command line: addresses may carry credentials.
std::vector<std::pair<std::string, std::string>> index_environment(const std::optional<std::string>& further_index);

// The text with every credential of a URL in it removed (user:password@).
std::string without_credentials(std::string text);

}  // namespace compatrix::wheel
