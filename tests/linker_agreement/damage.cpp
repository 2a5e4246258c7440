#include "tests/linker_agreement/damage.h"

#include <cstring>
#include <fstream>
#include <iterator>

namespace agreement {
namespace {

constexpr std::size_t kProgramHeader = 56, kPtDynamic = 2;

std::uint64_t number_at(const std::string& bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + at, size);
  return value;
}

void put(std::string& bytes, std::size_t at, std::uint64_t value, std::size_t size) {
  std::memcpy(bytes.data() + at, &value, size);
}

// Where the program header of the dynamic section lies.
std::size_t dynamic_header(const std::string& bytes) {
  std::size_t at = number_at(bytes, 32, 8);
  for (std::uint64_t left = number_at(bytes, 56, 2); left > 0; --left, at += kProgramHeader)
    if (number_at(bytes, at, 4) == kPtDynamic) return at;
  return 0;
}

void remove_need(std::string& bytes, std::uint64_t which) {
  constexpr std::uint64_t kIgnored = 0x6ffffef8;  // a tag that the loader passes over
  const std::size_t header = dynamic_header(bytes), begin = number_at(bytes, header + 8, 8);
  std::vector<std::size_t> needs;
  for (std::size_t at = begin; number_at(bytes, at, 8) != 0; at += 16)
    if (number_at(bytes, at, 8) == 1) needs.push_back(at);
  if (!needs.empty()) put(bytes, needs[which % needs.size()], kIgnored, 8);
}

// The version need GLIBC_ABI_DT_RELR becomes one for GLIBC_2.2.5, which libc defines too.
void rename_mark(std::string& bytes) {
  constexpr std::string_view kMark = "GLIBC_ABI_DT_RELR", kOther = "GLIBC_2.2.5";
  constexpr std::uint32_t kMarkHash = 0xfd0e42, kOtherHash = 0x9691a75;
  const std::size_t name = bytes.find(kMark);
  std::string hash(4, '\0');
  put(hash, 0, kMarkHash, 4);
  const std::size_t need = bytes.find(hash);
  if (name == std::string::npos || need == std::string::npos) return;
  bytes.replace(name, kOther.size(), kOther);
  bytes[name + kOther.size()] = '\0';
  put(bytes, need, kOtherHash, 4);
}

void change(std::string& bytes, const Library& library) {
  switch (library.damage) {
    case Damage::none:
      break;
    case Damage::cut_off:
      bytes.resize(bytes.size() * library.cut / 1000);
      break;
    case Damage::other_class:
      bytes[4] = 1;
      break;
    case Damage::other_machine:
      put(bytes, 18, 183, 2);
      break;
    case Damage::executable_type:
      put(bytes, 16, 2, 2);
      break;
    case Damage::object_type:
      put(bytes, 16, 1, 2);
      break;
    case Damage::no_dynamic:
      put(bytes, dynamic_header(bytes), 0, 4);
      break;
    case Damage::bad_ident:
      bytes[5 + library.cut % 11] = static_cast<char>(2 + library.cut % 5);
      break;
    case Damage::bad_entry_size:
      put(bytes, 54, 64, 2);
      break;
    case Damage::no_relr_mark:
      rename_mark(bytes);
      break;
    case Damage::needs_removed:
      remove_need(bytes, library.cut);
      break;
  }
}

}  // namespace

void damage(const Library& library, const std::filesystem::path& file) {
  if (library.damage == Damage::none) return;
  std::ifstream in(file, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  in.close();
  change(bytes, library);
  std::ofstream(file, std::ios::binary) << bytes;
}

}  // namespace agreement
