// What is kept of a shared object: the raw tables that the dynamic linker reads, a few per cent of the file. Decoded
// from the stored form they give the same ElfFile as the whole file would.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "framework/base/result.h"
#include "framework/elf/acceptance.h"
#include "framework/elf/elf_file.h"
#include "framework/facts/source_locations.h"

namespace compatrix::facts {

// Whether a member's bytes are those that the wheel's RECORD names.
enum class RecordAgreement : std::uint8_t { matches = 0, differs = 1, not_listed = 2, not_checked = 3 };

struct LibraryFacts {
  std::shared_ptr<const elf::ElfFile> elf;  // null where the file is no readable ELF file
  std::string defect;                       // why; empty otherwise
  elf::Acceptance acceptance;               // by the dynamic linker, also of a defective file
  RecordAgreement record = RecordAgreement::not_checked;
  std::vector<SourceLocation> source_locations;
};

// The stored form.
std::string encode_library(const elf::RawTables& tables, const elf::Acceptance& acceptance, RecordAgreement record,
                           const std::vector<SourceLocation>& locations);
std::string encode_defective_library(const std::string& defect, const elf::Acceptance& acceptance,
                                     RecordAgreement record);

// Reads the stored form; the result's views point into `bytes`. An Error for anything that encode did not write.
Result<LibraryFacts> decode_library(const std::string& name, const std::shared_ptr<const ByteSource>& bytes);

}  // namespace compatrix::facts
