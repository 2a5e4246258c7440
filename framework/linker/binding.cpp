// Symbol versions and symbol lookup (elf/dl-version.c, elf/dl-lookup.c): the global scope first, then the closure of
// the object that was opened.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "framework/elf/demangle.h"
#include "framework/linker/process.h"

namespace compatrix::linker {
namespace {

// Whether a dynamic symbol can satisfy a lookup at all: defined, visible from outside, of a kind that has an address.
bool can_provide(const elf::Symbol& symbol, elf::LookupClass lookup) {
  if (symbol.value == 0 && symbol.section != elf::SHN_ABS && symbol.type != elf::STT_TLS) return false;
  if (lookup == elf::LookupClass::plt && symbol.undefined()) return false;
  if (symbol.visibility == elf::STV_HIDDEN || symbol.visibility == elf::STV_INTERNAL) return false;
  if (symbol.binding != elf::STB_GLOBAL && symbol.binding != elf::STB_WEAK && symbol.binding != elf::STB_GNU_UNIQUE)
    return false;
  return symbol.type <= elf::STT_FUNC || symbol.type == elf::STT_COMMON || symbol.type == elf::STT_TLS ||
         symbol.type == elf::STT_GNU_IFUNC;
}

enum class Match { no, yes, aborts };

// One object's answer to a lookup (do_lookup_x and check_match).
class Provider {
 public:
  Provider(const LoadedObject& object, std::vector<std::uint32_t>& candidates)
      : object_(object), candidates_(candidates) {}

  Match provides(std::string_view name, std::uint32_t hash, const elf::SymbolVersion& version,
                 elf::LookupClass lookup) {
    if (object_.assumed && object_.assumed->of_platform) return of_platform(name, hash, version, lookup);
    if (object_.assumed)
      return name.starts_with(object_.assumed->symbol_prefix) || is_interpreter_private(name) ? Match::yes : Match::no;
    if (!object_.elf) return Match::no;
    object_.elf->find(name, hash, candidates_);
    int default_versions = 0;
    for (const std::uint32_t index : candidates_) {
      if (!can_provide(object_.elf->symbol(index), lookup)) continue;
      const Match match = version.name.empty() ? unversioned(index, default_versions) : versioned(index, version);
      if (match != Match::no) return match;
    }
    return default_versions == 1 ? Match::yes : Match::no;
  }

 private:
  [[nodiscard]] Match of_platform(std::string_view name, std::uint32_t hash, const elf::SymbolVersion& version,
                                  elf::LookupClass lookup) const {
    const AssumedLibrary& library = *object_.assumed;
    if (!version.name.empty()) return library.of_platform->defines(version.name) ? Match::yes : Match::no;
    if (!library.names) return Match::no;
    library.names->find(name, hash, candidates_);
    const auto offered = [&](std::uint32_t index) {
      const elf::SymbolVersion own = library.names->version(library.names->version_index(index).value_or(0));
      return can_provide(library.names->symbol(index), lookup) && library.of_platform->defines(own.name);
    };
    return std::any_of(candidates_.begin(), candidates_.end(), offered) ? Match::yes : Match::no;
  }

  [[nodiscard]] bool is_interpreter_private(std::string_view name) const {
    return object_.executable && name.starts_with("_Py");
  }

  // A versioned reference: the same version, or an object without any versions. If the reference names that very object
  // as the one to define the version, glibc dies of an assertion.
  [[nodiscard]] Match versioned(std::uint32_t index, const elf::SymbolVersion& wanted) const {
    const elf::ElfFile& elf = *object_.elf;
    if (!elf.has_symbol_versions())
      return !wanted.file.empty() && object_.is_called(wanted.file) ? Match::aborts : Match::yes;
    const std::uint16_t raw = elf.version_index(index).value_or(0);
    const elf::SymbolVersion own = elf.version(raw);
    if (own.name == wanted.name) return Match::yes;
    if (wanted.hidden || !own.name.empty() || (raw & 0x8000) != 0) return Match::no;
    return Match::yes;
  }

  // An unversioned reference: the base or first version, else the only version that is visible.
  [[nodiscard]] Match unversioned(std::uint32_t index, int& default_versions) const {
    const elf::ElfFile& elf = *object_.elf;
    if (!elf.has_symbol_versions()) return Match::yes;
    const std::uint16_t raw = elf.version_index(index).value_or(0);
    if ((raw & 0x7fff) < 3) return Match::yes;
    if ((raw & 0x8000) == 0) ++default_versions;
    return Match::no;
  }

  const LoadedObject& object_;
  std::vector<std::uint32_t>& candidates_;
};

}  // namespace

void Process::check_versions(int object) {
  LoadedObject& checked = state_.objects[static_cast<std::size_t>(object)];
  if (std::exchange(checked.versions_checked, true) || !checked.elf) return;
  for (const elf::VersionNeed& need : checked.elf->version_needs()) {
    const auto provider = std::find_if(state_.objects.begin(), state_.objects.end(),
                                       [&](const LoadedObject& candidate) { return candidate.is_called(need.file); });
    if (provider == state_.objects.end()) {
      // That the library itself is missing has been told.
      if (std::find(missing_.begin(), missing_.end(), need.file) != missing_.end()) continue;
      report({.kind = ProblemKind::version_not_found,
              .object = name_of(object),
              .library = std::string(need.file),
              .expected_in = std::string(need.file),
              .message = fmt::format("{}: asks for versions of {}, which it does not need; the loader's assertion ends "
                                     "the process",
                                     name_of(object), need.file)},
             Outcome::kills);
      continue;
    }
    // One without definitions is accepted here.
    const bool of_platform = provider->assumed && provider->assumed->of_platform;
    if (!of_platform && (!provider->elf || !provider->elf->has_version_definitions())) continue;
    for (const elf::VersionRequirement& version : need.versions)
      check_version(object, std::string(need.file), *provider, version);
  }
  check_relative_relocations(object);
}

void Process::check_version(int object, const std::string& file, const LoadedObject& provider,
                            const elf::VersionRequirement& version) {
  const auto is_in = [&](const auto& definitions) {
    return std::any_of(definitions.begin(), definitions.end(),
                       [&](const elf::VersionDefinition& d) { return d.name == version.name; });
  };
  const bool defined =
      provider.elf ? is_in(provider.elf->version_definitions()) : provider.assumed->of_platform->defines(version.name);
  if (defined || version.weak) return;
  report({.kind = ProblemKind::version_not_found,
          .object = name_of(object),
          .library = file,
          .version = std::string(version.name),
          .expected_in = file,
          .searched = {provider.path},
          .message = fmt::format("{}: version `{}' not found (required by {})", displayed(provider.path), version.name,
                                 name_of(object))},
         Outcome::fails);
}

// DT_RELR tables are for a libc that says it knows them: an older one would not relocate the object at all.
void Process::check_relative_relocations(int object) {
  const elf::ElfFile& elf = *state_.objects[static_cast<std::size_t>(object)].elf;
  if (!elf.has_relative_relocation_table() || elf.version_needs().empty()) return;
  const bool needs_libc = std::any_of(elf.needed().begin(), elf.needed().end(),
                                      [](std::string_view name) { return name.starts_with("libc.so."); });
  for (const elf::VersionNeed& need : elf.version_needs())
    for (const elf::VersionRequirement& version : need.versions)
      if (version.name == "GLIBC_ABI_DT_RELR") return;
  if (!needs_libc) return;
  report({.kind = ProblemKind::version_not_found,
          .object = name_of(object),
          .library = "libc.so.6",
          .version = "GLIBC_ABI_DT_RELR",
          .expected_in = "libc.so.6",
          .message = fmt::format("{}: DT_RELR without GLIBC_ABI_DT_RELR dependency", name_of(object))},
         Outcome::fails);
}

void Process::check_isa_level(int object) {
  const LoadedObject& checked = state_.objects[static_cast<std::size_t>(object)];
  if (checked.relocated || !checked.elf || machine_ != elf::EM_X86_64) return;
  const std::uint32_t levels = (1U << static_cast<unsigned>(files_.environment().processor.isa_level)) - 1;
  if ((checked.elf->tables().isa_needed & ~levels) == 0) return;
  report({.kind = ProblemKind::isa_level,
          .object = name_of(object),
          .message = fmt::format("{}: CPU ISA level is lower than required", name_of(object))},
         Outcome::fails);
}

std::optional<int> Process::lookup(int object, int root, std::uint32_t index, elf::LookupClass lookup) {
  const LoadedObject& referring = state_.objects[static_cast<std::size_t>(object)];
  const std::string_view name = referring.elf->symbol_name(index);
  const std::uint32_t hash = elf::gnu_hash(name);
  const auto raw = referring.elf->version_index(index);
  const elf::SymbolVersion version = raw ? referring.elf->version(*raw) : elf::SymbolVersion{};
  const auto ask = [&](int candidate) -> bool {
    const LoadedObject& provider = state_.objects[static_cast<std::size_t>(candidate)];
    if (provider.elf && !provider.assumed && provider.elf->excludes(hash)) return false;
    if (lookup == elf::LookupClass::copy && provider.executable) return false;
    const Match match = Provider(provider, candidates_).provides(name, hash, version, lookup);
    if (match == Match::aborts) {
      report(
          {.kind = ProblemKind::version_not_found,
           .object = name_of(object),
           .library = std::string(version.file),
           .symbol = std::string(name),
           .demangled = elf::demangle(std::string(name)),
           .version = std::string(version.name),
           .expected_in = std::string(version.file),
           .searched = {provider.path},
           .message = fmt::format(
               "{}: has no symbol versions, {} asks it for {} of version {}; the loader's assertion ends the process",
               displayed(provider.path), name_of(object), name, version.name)},
          Outcome::kills);
    }
    return match != Match::no;
  };
  if (referring.elf->symbolic() && ask(object)) return object;
  for (const int candidate : state_.global_scope)
    if (ask(candidate)) return candidate;
  for (const int candidate : state_.objects[static_cast<std::size_t>(root)].scope)
    if (ask(candidate)) return candidate;
  return std::nullopt;
}

void Process::relocate(int object, int root) {
  LoadedObject& relocated = state_.objects[static_cast<std::size_t>(object)];
  if (std::exchange(relocated.relocated, true) || !relocated.elf) return;
  const std::shared_ptr<const elf::ElfFile> elf = relocated.elf;
  if (elf->dies_when_relocated())
    report({.kind = ProblemKind::bad_file,
            .object = name_of(object),
            .message = fmt::format("{}: the file is shorter than its segments; the process dies when it is relocated",
                                   name_of(object))},
           Outcome::kills);
  std::set<std::uint32_t> told;
  for (const elf::SymbolReference& reference : elf->tables().references) {
    const bool fixes_offset = reference.static_tls != elf::StaticTls::no;
    const elf::Symbol symbol = reference.symbol == 0 ? elf::Symbol{} : elf->symbol(reference.symbol);
    // Hidden and local symbols are not looked up at all.
    if (symbol.binding == elf::STB_LOCAL || symbol.visibility == elf::STV_HIDDEN ||
        symbol.visibility == elf::STV_INTERNAL) {
      if (fixes_offset) place_in_static_tls(object, reference.static_tls);
      continue;
    }
    // One that the object defines itself is found there at the latest.
    if (!symbol.undefined() && !fixes_offset) continue;
    const auto raw = elf->version_index(reference.symbol);
    // A weak reference may stay unresolved; only a version can make its lookup end badly.
    const bool versioned = raw && !elf->version(*raw).name.empty();
    if (symbol.binding == elf::STB_WEAK && !versioned && !fixes_offset) continue;
    const std::optional<int> provider = lookup(object, root, reference.symbol, reference.lookup);
    if (provider && fixes_offset) place_in_static_tls(*provider, reference.static_tls);
    if (provider || symbol.binding == elf::STB_WEAK) continue;
    if (!told.insert(reference.symbol).second) continue;
    report_undefined(object, root, elf->symbol_name(reference.symbol), raw ? elf->version(*raw) : elf::SymbolVersion{});
  }
}

// Code with a fixed offset to an object's thread-local memory needs that memory in the static TLS block.
void Process::place_in_static_tls(int object, elf::StaticTls need) {
  LoadedObject& placed = state_.objects[static_cast<std::size_t>(object)];
  const elf::Segment* segment = placed.elf ? placed.elf->thread_local_segment() : nullptr;
  if (placed.in_static_tls || segment == nullptr) return;
  placed.in_static_tls = state_.static_tls.place(*segment, need == elf::StaticTls::preferred);
  if (placed.in_static_tls || need == elf::StaticTls::preferred) return;
  report({.kind = ProblemKind::static_tls,
          .object = name_of(object),
          .message = fmt::format("{}: cannot allocate memory in static TLS block", name_of(object))},
         Outcome::fails);
}

void Process::report_undefined(int object, int root, std::string_view symbol, const elf::SymbolVersion& version) {
  // What a missing library would have brought is not a second problem.
  if (std::find(missing_.begin(), missing_.end(), version.file) != missing_.end() && !version.file.empty()) return;
  Problem problem{.kind = ProblemKind::undefined_symbol,
                  .object = name_of(object),
                  .symbol = std::string(symbol),
                  .demangled = elf::demangle(std::string(symbol)),
                  .version = std::string(version.name),
                  .expected_in = std::string(version.file)};
  problem.message = fmt::format("{}: undefined symbol: {}", problem.object, symbol);
  if (!version.name.empty()) problem.message += fmt::format(", version {}", version.name);

  // The nearest relative among everything that the lookup saw, the referring object itself aside.
  std::vector<int> scope = state_.global_scope;
  for (const int candidate : state_.objects[static_cast<std::size_t>(root)].scope) scope.push_back(candidate);
  std::vector<const elf::ElfFile*> libraries;
  for (const int candidate : scope) {
    const LoadedObject& library = state_.objects[static_cast<std::size_t>(candidate)];
    libraries.push_back(candidate == object || library.executable ? nullptr : library.elf.get());
  }
  Relatives::Nearest nearest = relatives_.find(problem.symbol, libraries);
  if (nearest.library >= 0) {
    const LoadedObject& library =
        state_.objects[static_cast<std::size_t>(scope[static_cast<std::size_t>(nearest.library)])];
    if (problem.expected_in.empty())
      problem.expected_in = library.elf->soname() ? std::string(*library.elf->soname()) : displayed(library.path);
    problem.instead = std::move(nearest.instead);
    problem.other_string_abi = std::move(nearest.other_string_abi);
  }
  report(std::move(problem), Outcome::fails);
}

}  // namespace compatrix::linker
