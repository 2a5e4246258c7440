#include "tests/support/exercise.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <vector>

#include "framework/bytes/owned_bytes.h"
#include "framework/checks/plugin_library.h"
#include "framework/elf/acceptance.h"
#include "framework/environment/loader_cache.h"
#include "framework/facts/library_facts.h"
#include "framework/facts/wheel_facts.h"
#include "framework/linker/process.h"
#include "framework/wheel/zip.h"

namespace support {

using namespace compatrix;

namespace {

void read_all(const elf::ElfFile& file, Steps& steps) {
  steps.items += file.needed().size() + file.version_definitions().size() + file.tables().references.size() +
                 file.tables().segments.size() + file.tables().dynamic.size();
  for (const elf::VersionNeed& need : file.version_needs()) steps.items += 1 + need.versions.size();
  std::vector<std::uint32_t> found;
  const auto find = [&](std::string_view name) {
    const std::uint32_t hash = elf::gnu_hash(name);
    static_cast<void>(file.excludes(hash));
    found.clear();
    file.find(name, hash, found);
    steps.found += found.size();
  };
  for (std::uint32_t i = 0; i < file.symbol_count(); ++i, ++steps.items) {
    static_cast<void>(file.symbol(i));
    if (const auto raw = file.version_index(i)) static_cast<void>(file.version(*raw));
    if (i < 64) find(file.symbol_name(i));
  }
  for (const char* name : {"", "hostile", "hostile_first", "nobody"}) find(name);
  static_cast<void>(file.thread_local_segment());
  static_cast<void>(file.dies_when_relocated());
}

// A reader's end is its result or FormatError; anything else is a fault of ours.
template <class Reader>
void guarded(Steps& steps, Reader&& reader) {
  try {
    reader();
    steps.readable = true;
  } catch (const FormatError&) {
  }
}

std::filesystem::path write(const std::string& folder, const std::string& name, std::string_view bytes) {
  std::filesystem::path path = std::filesystem::path(folder) / name;
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path;
}

// A table of a file that begins with its length, as far as there are bytes.
ByteView take(std::string_view& bytes) {
  if (bytes.empty()) return {};
  const std::size_t length = std::min<std::size_t>(static_cast<unsigned char>(bytes.front()) * 4U, bytes.size() - 1);
  const std::string_view table = bytes.substr(1, length);
  bytes.remove_prefix(1 + length);
  return ByteView(std::as_bytes(std::span(table)));
}

std::string encoded(const elf::ElfFile& file, const elf::Acceptance& acceptance) {
  return facts::encode_library(file.tables(), acceptance, facts::RecordAgreement::not_checked, {{"a.h", 3}});
}

}  // namespace

std::string stored_facts(std::string bytes) {
  const auto source = std::make_shared<OwnedBytes>(std::move(bytes));
  const auto file = elf::read_elf("hostile", source);
  return file ? encoded(**file, elf::examine(*source)) : "";
}

Steps exercise_elf(std::string bytes) {
  Steps steps;
  const auto source = std::make_shared<OwnedBytes>(std::move(bytes));
  const elf::Acceptance acceptance = elf::examine(*source);
  guarded(steps, [&] { steps.items += elf::read_program_headers(*source).size(); });
  steps.readable = false;
  const auto file = elf::read_elf("hostile", source);
  if (!file) return steps;
  steps.readable = true;
  guarded(steps, [&] { read_all(**file, steps); });

  const std::string stored = encoded(**file, acceptance);
  const auto facts = facts::decode_library("hostile", std::make_shared<OwnedBytes>(stored));
  if (!facts || !facts->elf) throw std::logic_error("the facts of a readable file can't be read again");
  Steps again;
  guarded(again, [&] { read_all(*facts->elf, again); });
  if (facts->elf->needed() != (*file)->needed() || facts->elf->symbol_count() != (*file)->symbol_count())
    throw std::logic_error("the facts of a file are not what is in it");
  steps.items += again.items;
  steps.found += again.found;
  return steps;
}

Steps exercise_tables(std::string_view bytes) {
  Steps steps;
  elf::RawTables tables{.type = elf::ET_DYN, .machine = elf::EM_X86_64, .file_size = bytes.size()};
  for (ByteView* table : {&tables.dynstr, &tables.dynsym, &tables.versym, &tables.verneed, &tables.verdef,
                          &tables.gnu_hash, &tables.sysv_hash})
    *table = take(bytes);
  const ByteView dynamic = take(bytes);
  for (std::uint64_t at = 0; at + 9 <= dynamic.size(); at += 9)
    tables.dynamic.push_back(
        {.tag = dynamic.u8(at) < 64 ? dynamic.u8(at) : 0x6fffff00U + dynamic.u8(at), .value = dynamic.u64(at + 1)});
  guarded(steps, [&] { read_all(elf::ElfFile(std::move(tables), nullptr), steps); });
  return steps;
}

std::string table_seed(std::string library) {
  const auto file = elf::read_elf("hostile", std::make_shared<OwnedBytes>(std::move(library)));
  if (!file) return "";
  std::string seed;
  const auto put = [&](std::string table) {
    table.resize(std::min<std::size_t>((table.size() + 3) / 4 * 4, 255 * 4));
    seed += static_cast<char>(table.size() / 4);
    seed += table;
  };
  const elf::RawTables& tables = (*file)->tables();
  for (const ByteView table :
       {tables.dynstr, tables.dynsym, tables.versym, tables.verneed, tables.verdef, tables.gnu_hash, tables.sysv_hash})
    put(std::string(table.text()));
  std::string dynamic;
  for (const elf::DynamicEntry& entry : tables.dynamic) {
    dynamic += static_cast<char>(entry.tag & 0xff);
    dynamic.append(reinterpret_cast<const char*>(&entry.value), 8);
  }
  put(dynamic);
  return seed;
}

Steps exercise_facts(const std::string& bytes) {
  Steps steps;
  const auto source = std::make_shared<OwnedBytes>(bytes);
  if (const auto library = facts::decode_library("hostile", source); library && library->elf) {
    steps.readable = true;
    guarded(steps, [&] { read_all(*library->elf, steps); });
    steps.items += library->source_locations.size();
  }
  if (const auto wheel = facts::decode_wheel("hostile", *source)) {
    steps.readable = true;
    steps.items += (*wheel)->directory.entries.size() + (*wheel)->directory.defects.size();
    for (const auto& [path, entry] : (*wheel)->files())
      if ((*wheel)->find(path) == nullptr) throw std::logic_error("a wheel's own file is not found");
  }
  return steps;
}

Steps exercise_loader_cache(std::string_view bytes) {
  Steps steps;
  for (const std::uint16_t machine : {elf::EM_X86_64, elf::EM_AARCH64})
    guarded(steps,
            [&] { steps.items += parse_loader_cache(ByteView(std::as_bytes(std::span(bytes))), machine).size(); });
  return steps;
}

namespace {

class Archive : public RandomAccess {
 public:
  explicit Archive(const std::string& bytes) : bytes_(bytes) {}
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  Result<std::vector<std::byte>> read(std::uint64_t offset, std::uint64_t length) override {
    if (offset > bytes_.size() || length > bytes_.size() - offset) return Error{name_, "read beyond its end"};
    const auto piece = std::as_bytes(std::span(bytes_)).subspan(offset, length);
    return std::vector<std::byte>(piece.begin(), piece.end());
  }
  Result<Done> stream(std::uint64_t offset, std::uint64_t length, const ByteSink& sink) override {
    if (offset > bytes_.size() || length > bytes_.size() - offset) return Error{name_, "read beyond its end"};
    sink(std::as_bytes(std::span(bytes_)).subspan(offset, length));
    return Done{};
  }

 private:
  const std::string& bytes_;
  std::string name_ = "hostile.whl";
};

}  // namespace

Steps exercise_zip(const std::string& bytes) {
  Steps steps;
  Archive archive(bytes);
  const auto directory = wheel::read_zip_directory(archive);
  if (!directory) return steps;
  steps.readable = true;
  steps.items = directory->entries.size() + directory->defects.size();
  steps.items += wheel::reconcile_local_headers(archive, *directory).size();
  for (const wheel::ZipEntry& entry : directory->entries) {
    if (entry.size > (1U << 20)) continue;
    static_cast<void>(wheel::read_member(archive, entry, 1U << 20));
  }
  return steps;
}

Steps exercise_note(const std::string& bytes, const std::string& folder) {
  const auto path = write(folder, "hostile_plugin.so", bytes);
  Steps steps;
  const auto plugin = inspect_plugin(path);
  steps.readable = static_cast<bool>(plugin);
  if (plugin) steps.items = plugin->note.checks.size();
  return steps;
}

struct HostileLoads::State {
  explicit State(const std::string& folder)
      : wheels(facts::FactStore(folder)),
        files(Environment{.interpreter = std::filesystem::canonical("/proc/self/exe"),
                          .site_packages = "/nowhere",
                          .installed = true},
              wheels),
        process(files, relatives) {}
  WheelLibrary wheels;
  linker::Relatives relatives;
  CellFiles files;
  linker::Process process;
  std::string folder;
  int opened = 0;
};

HostileLoads::HostileLoads(const std::string& folder) : state_(new State(folder)) {
  state_->folder = folder;
}

HostileLoads::~HostileLoads() {
  delete state_;
}

std::string HostileLoads::open(const std::string& bytes) {
  // What is known of a file is kept by its path: each gets its own, and now and then all is forgotten.
  if (state_->opened == 2000) {
    State* fresh = new State(state_->folder);
    fresh->folder = state_->folder;
    delete state_;
    state_ = fresh;
  }
  const auto path = write(state_->folder, "hostile" + std::to_string(state_->opened++) + ".so", bytes);
  const linker::LoadReport report = state_->process.try_open(path.string());
  std::filesystem::remove(path);
  if (report.outcome == linker::Outcome::loads) return "loads";
  return report.outcome == linker::Outcome::kills ? "dies" : report.message;
}

}  // namespace support
