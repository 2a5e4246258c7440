// Every prefix of five small libraries, and every byte of them spoilt in three ways: the readers and the simulated
// loader end, in an error or an answer, and take no more memory and steps than the file's size allows.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <new>
#include <string>

#include <catch2/catch_all.hpp>

#include "tests/support/exercise.h"
#include "tests/support/scratch_folder.h"

namespace {

// What operator new was asked for since it was last set to 0, by this single-threaded program.
std::size_t allocated_bytes = 0, allocations = 0;

void* counted(std::size_t size) {
  allocated_bytes += size;
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) {
  return counted(size);
}
void* operator new[](std::size_t size) {
  return counted(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace {

constexpr const char* kLibraries[] = {"gnu_hash", "sysv_hash", "versioned", "version_user", "thread_local"};

std::string content_of(const std::string& name) {
  std::ifstream in(std::string(FIXTURES) + "/hostile/" + name + ".so", std::ios::binary);
  REQUIRE(in);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Calls `use` with every prefix, and with every byte XORed with 0xFF, 0x01 and 0x80, told what was done.
template <class Use>
void spoil(const std::string& whole, Use&& use) {
  for (std::size_t size = 0; size < whole.size(); ++size)
    use(whole.substr(0, size), "the first " + std::to_string(size) + " bytes");
  for (const int change : {0xff, 0x01, 0x80})
    for (std::size_t at = 0; at < whole.size(); ++at) {
      std::string spoilt = whole;
      spoilt[at] = static_cast<char>(static_cast<unsigned char>(spoilt[at]) ^ change);
      use(spoilt, "byte " + std::to_string(at) + " XOR " + std::to_string(change));
    }
}

}  // namespace

TEST_CASE("the five libraries are small and whole", "[hostile]") {
  for (const char* name : kLibraries) {
    CAPTURE(name);
    const std::string whole = content_of(name);
    CHECK(whole.size() <= 4096);
    const support::Steps steps = support::exercise_elf(whole);
    CHECK(steps.readable);
    CHECK(steps.items > 20);
    CHECK(steps.found >= 2);
  }
}

TEST_CASE("spoilt libraries are read within a budget of steps and memory", "[hostile]") {
  const std::string name =
      GENERATE(values<std::string>({kLibraries[0], kLibraries[1], kLibraries[2], kLibraries[3], kLibraries[4]}));
  const std::string whole = content_of(name);
  // Every table entry takes bytes of the file, and each is decoded twice, from the file and from its facts.
  const std::size_t most_items = 2 * whole.size(), most_found = 2 * whole.size();
  const std::size_t most_bytes = 128 * whole.size(), most_allocations = whole.size();
  std::size_t readable = 0, refused = 0;
  spoil(whole, [&](const std::string& bytes, const std::string& what) {
    std::string copy = bytes;
    allocated_bytes = allocations = 0;
    const support::Steps steps = support::exercise_elf(std::move(copy));
    const std::size_t bytes_taken = allocated_bytes, pieces = allocations;
    ++(steps.readable ? readable : refused);
    if (steps.items > most_items || steps.found > most_found || bytes_taken > most_bytes || pieces > most_allocations)
      FAIL(name << ", " << what << ": " << steps.items << " items, " << steps.found << " found, " << bytes_taken
                << " bytes in " << pieces << " allocations");
  });
  CHECK(readable > 0);
  CHECK(refused > 0);
}

TEST_CASE("spoilt stored facts end in an error or an answer within a budget", "[hostile]") {
  const std::string name = GENERATE(values<std::string>({kLibraries[0], kLibraries[2], kLibraries[4]}));
  const std::string stored = support::stored_facts(content_of(name));
  std::size_t readable = 0, refused = 0;
  spoil(stored, [&](const std::string& bytes, const std::string& what) {
    allocated_bytes = allocations = 0;
    const support::Steps steps = support::exercise_facts(bytes);
    const std::size_t bytes_taken = allocated_bytes;
    ++(steps.readable ? readable : refused);
    if (steps.items > 2 * stored.size() || bytes_taken > 128 * stored.size())
      FAIL(name << ", " << what << ": " << steps.items << " items, " << bytes_taken << " bytes");
  });
  CHECK(readable > 0);
  CHECK(refused > 0);
}

// Both were found by the fuzzers.
TEST_CASE("a relocation's symbol takes no more memory than the file has symbols", "[hostile]") {
  const std::string whole = content_of("version_user");
  const auto field = [&](std::size_t at, auto value) {
    std::memcpy(&value, whole.data() + at, sizeof value);
    return value;
  };
  const auto program_headers = field(32, std::uint64_t{});
  std::string longer = whole;
  std::size_t loaded = 0;
  for (std::size_t i = 0; i < field(56, std::uint16_t{}); ++i) {
    const std::size_t header = program_headers + i * 56;
    if (field(header, std::uint32_t{}) != 1 /* PT_LOAD */) continue;
    constexpr std::uint64_t kClaimed = std::uint64_t{1} << 40;
    std::memcpy(longer.data() + header + 32, &kClaimed, 8);
    ++loaded;
  }
  REQUIRE(loaded > 0);
  for (std::size_t at = 64; at + 4 <= longer.size(); at += 4) {
    std::string spoilt = longer;
    constexpr std::uint32_t kSymbol = 0x7ffffff0;
    std::memcpy(spoilt.data() + at, &kSymbol, 4);
    allocated_bytes = 0;
    static_cast<void>(support::exercise_elf(std::move(spoilt)));
    if (allocated_bytes > 128 * whole.size()) FAIL("4 bytes at " << at << ": " << allocated_bytes << " bytes");
  }
}

TEST_CASE("a .hash chain that leads back into itself ends", "[hostile]") {
  const auto words = [](std::initializer_list<std::uint32_t> values) {
    std::string bytes(1, static_cast<char>(values.size()));
    for (const std::uint32_t value : values) bytes.append(reinterpret_cast<const char*>(&value), 4);
    return bytes;
  };
  // A string table with an empty name, two symbols, no version tables, no .gnu.hash, and one bucket with a loop.
  const std::string tables = words({0}) + words({0, 0, 0, 0, 0, 0, 0, 0x00010010, 0x10, 0, 0, 0}) + words({}) +
                             words({}) + words({}) + words({}) + words({1, 0xffffffff, 1, 0, 1});
  allocated_bytes = 0;
  const support::Steps steps = support::exercise_tables(tables);
  CHECK(steps.found <= 64);
  CHECK(allocated_bytes < 65536);
}

TEST_CASE("the simulated loader opens spoilt libraries, and ends", "[hostile]") {
  const support::ScratchFolder folder;
  const std::string name =
      GENERATE(values<std::string>({kLibraries[0], kLibraries[1], kLibraries[2], kLibraries[3], kLibraries[4]}));
  support::HostileLoads loads(folder.path().string());
  std::size_t opened = 0, failed = 0, died = 0;
  spoil(content_of(name), [&](const std::string& bytes, const std::string& what) {
    const std::string outcome = loads.open(bytes);
    ++(outcome == "loads" ? opened : outcome == "dies" ? died : failed);
    if (outcome.empty()) FAIL(name << ", " << what << ": no outcome");
  });
  INFO(name << ": " << opened << " load, " << failed << " fail, " << died << " die");
  CHECK(failed > 0);
  CHECK(died > 0);
}
