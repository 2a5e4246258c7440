#include "tests/linker_agreement/build.h"

#include <fstream>
#include <stdexcept>

#include <fmt/format.h>

#include "framework/base/subprocess.h"
#include "tests/linker_agreement/assembly.h"
#include "tests/linker_agreement/damage.h"

namespace agreement {
namespace {

void run(std::vector<std::string> arguments) {
  const auto outcome = compatrix::run_program({.arguments = arguments});
  if (!outcome) throw std::runtime_error(outcome.error().text());
  if (outcome->exit_code == 0) return;
  std::string line;
  for (const std::string& argument : arguments) line += argument + " ";
  throw std::runtime_error(fmt::format("{}\n{}", line, outcome->errors));
}

void write(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

// The name of a file that a needed name may be kept under.
std::string file_name(const std::string& name) {
  std::string plain;
  for (const char c : name) plain += c == '/' ? '+' : c;
  return plain;
}

void link(const Library& library, const std::filesystem::path& root, const std::filesystem::path& object,
          Stubs& stubs) {
  std::vector<std::string> arguments{"ld", library.is_program ? "-pie" : "-shared", "--no-as-needed",
                                     "--unresolved-symbols=ignore-all", "--allow-shlib-undefined"};
  if (library.is_program) arguments.insert(arguments.end(), {"--no-dynamic-linker", "-e", "entry"});
  arguments.insert(arguments.end(), library.options.begin(), library.options.end());
  if (!library.soname.empty()) arguments.insert(arguments.end(), {"-soname", library.soname});
  if (library.has_search_path) arguments.insert(arguments.end(), {"-rpath", library.search_path});
  arguments.emplace_back(library.runpath ? "--enable-new-dtags" : "--disable-new-dtags");
  if (library.versions != Versions::none)
    arguments.push_back("--version-script=" + stubs.version_script(library.number, library.versions).string());
  const std::filesystem::path file = root / library.path;
  std::filesystem::create_directories(file.parent_path());
  arguments.insert(arguments.end(), {"-o", file, object});
  for (const Need& need : library.needs) arguments.push_back(stubs.stub(need));
  if (library.uses_libc) arguments.emplace_back("-l:libc.so.6");
  run(std::move(arguments));
}

}  // namespace

std::filesystem::path Stubs::version_script(int library, Versions versions) {
  const std::scoped_lock lock(mutex_);
  const std::string key = fmt::format("v{}-{}.map", library, static_cast<int>(versions));
  const auto [place, made] = made_.try_emplace(key, folder_ / key);
  if (made) write(place->second, version_script_text(library, versions));
  return place->second;
}

std::filesystem::path Stubs::stub(const Need& need) {
  const std::filesystem::path script = need.versioned ? version_script(need.library, Versions::both) : "";
  const std::scoped_lock lock(mutex_);
  const std::string key = fmt::format("{}-{}-{}", need.library, need.versioned ? 1 : 0, file_name(need.name));
  const auto [place, made] = made_.try_emplace(key, folder_ / key);
  if (!made) return place->second;
  const std::string source = place->second.string() + ".s", object = place->second.string() + ".o";
  write(source, assembly_of({.number = need.library}));
  run({"as", "-o", object, source});
  std::vector<std::string> arguments{"ld", "-shared", "-soname", need.name, "-o", place->second, object};
  if (need.versioned) arguments.push_back("--version-script=" + script.string());
  run(std::move(arguments));
  return place->second;
}

void build(const Graph& graph, const std::filesystem::path& root, Stubs& stubs) {
  for (const std::string& folder : graph.folders) std::filesystem::create_directories(root / folder);
  for (std::size_t i = 0; i < graph.libraries.size(); ++i) {
    const Library& library = graph.libraries[i];
    const std::filesystem::path source = root / "build" / fmt::format("{}.s", i), object = source.string() + ".o";
    write(source, assembly_of(library));
    run({"as", "-o", object, source});
    link(library, root, object, stubs);
    damage(library, root / library.path);
  }
  for (const OtherFile& other : graph.others) {
    const std::filesystem::path file = root / other.path;
    std::filesystem::create_directories(file.parent_path());
    switch (other.kind) {
      case OtherFile::Kind::text:
        write(file, "this is no library, whatever its name says; it is long enough to hold a whole ELF header\n");
        break;
      case OtherFile::Kind::empty:
        write(file, "");
        break;
      case OtherFile::Kind::folder:
        std::filesystem::create_directory(file);
        break;
      case OtherFile::Kind::link:
        std::filesystem::create_symlink(other.target, file);
        break;
    }
  }
}

}  // namespace agreement
