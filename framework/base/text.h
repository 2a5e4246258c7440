// Text for people: near names for what was mistyped, foreign bytes made visible, sizes in words.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace compatrix {

// The candidate that `word` was probably meant to be, or nothing where none is near.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates);

// ", did you mean 'x'?" or nothing, to end a sentence with.
std::string suggestion(std::string_view word, std::span<const std::string> candidates);

// Valid UTF-8 without control characters (line feed and tab stay): anything else becomes a visible token such as \xFF
// or \u001B. For everything foreign that goes to a terminal or into a report.
std::string visible_utf8(std::string_view bytes);

// A table of text, as words that blanks separate: one row for each line, but for empty ones and comments (#).
std::vector<std::vector<std::string_view>> table_rows(std::string_view text);

// "1.3 GB", "24 kB": decimal units.
std::string byte_count(std::uint64_t bytes);

}  // namespace compatrix
