#include <algorithm>

#include "framework/checks/run_context.h"
#include "framework/checks/services.h"

namespace compatrix {
namespace {

const char* optional_text(Arena& arena, const std::optional<std::string_view>& text) {
  return text ? arena.text(*text) : nullptr;
}

void put_undefined(Arena& arena, const elf::ElfFile& elf, compatrix_elf_facts& facts) {
  std::vector<std::string_view> names;
  for (std::uint32_t i = 1; i < elf.symbol_count(); ++i) {
    const elf::Symbol symbol = elf.symbol(i);
    if (!symbol.undefined() || symbol.binding == elf::STB_WEAK) continue;
    if (const std::string_view name = elf.symbol_name(i); !name.empty()) names.push_back(name);
  }
  std::tie(facts.undefined, facts.undefined_count) = arena.list(names);
}

void put_version_needs(Arena& arena, const elf::ElfFile& elf, compatrix_elf_facts& facts) {
  auto* needs = arena.keep(std::vector<compatrix_version_need>());
  for (const elf::VersionNeed& need : elf.version_needs())
    for (const elf::VersionRequirement& version : need.versions)
      needs->push_back(
          {.file = arena.text(need.file), .version = arena.text(version.name), .weak = version.weak ? 1 : 0});
  facts.version_needs = needs->data();
  facts.version_need_count = needs->size();
}

compatrix_elf_facts* view_of(Arena& arena, const FileAnswer& file) {
  auto* facts = arena.keep(compatrix_elf_facts{.struct_size = sizeof(compatrix_elf_facts)});
  if (!file.elf) {
    facts->error = arena.text(file.state == FileAnswer::State::absent ? "there is no such file" : file.defect);
    return facts;
  }
  const elf::ElfFile& elf = *file.elf;
  facts->soname = optional_text(arena, elf.soname());
  facts->runpath = optional_text(arena, elf.runpath());
  facts->rpath = optional_text(arena, elf.rpath());
  std::tie(facts->needed, facts->needed_count) = arena.list(elf.needed());
  put_version_needs(arena, elf, *facts);
  put_undefined(arena, elf, *facts);
  return facts;
}

std::string absolute(compatrix_run* run, const char* path) {
  return (run->files->environment().site_packages / path).string();
}

const compatrix_elf_facts* facts_of_file(compatrix_run* run, const char* path) {
  if (const auto known = run->elf_facts.find(path); known != run->elf_facts.end()) return known->second;
  FileAnswer file;
  if (!run->with_facts([&] { file = run->files->open(absolute(run, path)); })) return nullptr;
  return run->elf_facts.emplace(path, view_of(run->arena, file)).first->second;
}

void prepare(compatrix_run* run, const char* const* paths, std::size_t count) {
  run->with_facts([&] {
    for (std::size_t i = 0; i < count; ++i) run->files->open(absolute(run, paths[i]));
  });
}

// Opens a file whose facts are had by now or can be fetched; false: they can't.
bool open_known(compatrix_run* run, const char* path, FileAnswer& file) {
  return run->with_facts([&] { file = run->files->open(absolute(run, path)); });
}

const compatrix_source_location* source_locations(compatrix_run* run, const char* path, std::size_t* count) {
  FileAnswer file;
  *count = SIZE_MAX;
  if (!open_known(run, path, file)) return nullptr;
  auto* views = run->arena.keep(std::vector<compatrix_source_location>());
  for (const facts::SourceLocation& location : run->files->source_locations(absolute(run, path)))
    views->push_back({.header = run->arena.text(location.header), .line = location.line});
  *count = views->size();
  return views->empty() ? nullptr : views->data();
}

bool is_data_object(const elf::Symbol& symbol) {
  return symbol.type == elf::STT_OBJECT && !symbol.undefined() && symbol.size != 0 && symbol.binding != elf::STB_LOCAL;
}

const compatrix_data_object* data_objects(compatrix_run* run, const char* path, std::size_t* count) {
  FileAnswer file;
  *count = SIZE_MAX;
  if (!open_known(run, path, file)) return nullptr;
  auto* views = run->arena.keep(std::vector<compatrix_data_object>());
  for (std::uint32_t i = 1; file.elf && i < file.elf->symbol_count(); ++i)
    if (const elf::Symbol symbol = file.elf->symbol(i); is_data_object(symbol))
      views->push_back({.symbol = run->arena.text(file.elf->symbol_name(i)), .size = symbol.size});
  *count = views->size();
  return views->empty() ? nullptr : views->data();
}

std::uint64_t object_size(compatrix_run* run, const char* path, const char* symbol) try {
  FileAnswer file;
  if (!open_known(run, path, file) || !file.elf) return 0;
  std::vector<std::uint32_t> found;
  file.elf->find(symbol, elf::gnu_hash(symbol), found);
  for (const std::uint32_t index : found)
    if (const elf::Symbol defined = file.elf->symbol(index); is_data_object(defined)) return defined.size;
  return 0;
} catch (const FormatError&) {  // a hash table that leads out of the file defines nothing
  return 0;
}

}  // namespace

const compatrix_elf_1* elf_service() {
  static constexpr compatrix_elf_1 kService{.struct_size = sizeof(compatrix_elf_1),
                                            .facts = &facts_of_file,
                                            .prepare = &prepare,
                                            .source_locations = &source_locations,
                                            .data_objects = &data_objects,
                                            .object_size = &object_size};
  return &kService;
}

}  // namespace compatrix
