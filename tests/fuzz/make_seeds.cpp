// make_seeds FOLDER LIBRARY...: what each fuzz target begins with, made from small whole libraries.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/exercise.h"

namespace {

std::string content_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const std::filesystem::path& folder, const std::string& name, const std::string& bytes) {
  std::filesystem::create_directories(folder);
  std::ofstream(folder / name, std::ios::binary) << bytes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: make_seeds FOLDER LIBRARY...\n");
    return 2;
  }
  const std::filesystem::path seeds = argv[1];
  for (int i = 2; i < argc; ++i) {
    const std::filesystem::path library = argv[i];
    const std::string bytes = content_of(library), name = library.stem().string();
    if (bytes.empty()) {
      std::fprintf(stderr, "make_seeds: %s can't be read\n", argv[i]);
      return 1;
    }
    for (const char* target : {"elf", "note", "linker"}) write(seeds / target, name, bytes);
    write(seeds / "facts", name, support::stored_facts(bytes));
    write(seeds / "tables", name, support::table_seed(bytes));
  }
  // Those two formats have a magic word, which is all that a fuzzer would not find soon.
  write(seeds / "loader_cache", "empty", std::string("glibc-ld.so.cache1.1") + std::string(28, '\0'));
  write(seeds / "zip", "empty", std::string("PK\x05\x06") + std::string(18, '\0'));
}
