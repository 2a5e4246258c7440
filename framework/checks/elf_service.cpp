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
    if (symbol.undefined() && symbol.binding != elf::STB_WEAK && !symbol.name.empty()) names.push_back(symbol.name);
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

}  // namespace

const compatrix_elf_1* elf_service() {
  static constexpr compatrix_elf_1 kService{
      .struct_size = sizeof(compatrix_elf_1), .facts = &facts_of_file, .prepare = &prepare};
  return &kService;
}

}  // namespace compatrix
