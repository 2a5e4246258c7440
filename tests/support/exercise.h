// Everything that each reader of foreign bytes does with them, for tests that spoil files byte by byte and for the
// fuzzers. Each function returns for any bytes whatever: what is wrong with them ends in an error inside.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace support {

// How far a reader went: what is asserted to stay below a multiple of the file's size.
struct Steps {
  bool readable = false;  // the bytes made a file of this kind
  std::size_t items = 0;  // table entries that were decoded
  std::size_t found = 0;  // symbols that lookups by hash came up with
};

// ELF header, segments, dynamic section, symbols, versions, hash tables, relocations; then the same from the stored
// facts that are made of them. Throws std::logic_error where the two differ.
Steps exercise_elf(std::string bytes);
// The tables alone, as a hostile file or store would have them: the bytes are cut into string table, symbols, version
// entries, needs, definitions and both hash tables.
Steps exercise_tables(std::string_view bytes);
// Bytes that exercise_tables cuts into the tables of this library; empty where it is none.
std::string table_seed(std::string library);
// The facts that are stored of a readable file; empty of another.
std::string stored_facts(std::string bytes);
// Stored facts of a library and of a wheel.
Steps exercise_facts(const std::string& bytes);
Steps exercise_loader_cache(std::string_view bytes);
// Directory, local headers and every member of an archive.
Steps exercise_zip(const std::string& bytes);
// The note of a plugin; a file is written below `folder`.
Steps exercise_note(const std::string& bytes, const std::string& folder);

// dlopen of such a file, simulated in a process that has started; many files, one after the other.
class HostileLoads {
 public:
  explicit HostileLoads(const std::string& folder);
  ~HostileLoads();
  HostileLoads(const HostileLoads&) = delete;
  HostileLoads& operator=(const HostileLoads&) = delete;
  // The outcome in the loader's words: "loads", "dies", or its message.
  std::string open(const std::string& bytes);

 private:
  struct State;
  State* state_;
};

}  // namespace support
