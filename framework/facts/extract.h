// From the bytes of a shared object, as they stream out of a wheel, to the facts that are kept of it: one pass, and a
// second one only where a table lies where no linker puts it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "framework/base/result.h"
#include "framework/bytes/random_access.h"
#include "framework/facts/kept_bytes.h"
#include "framework/facts/library_facts.h"
#include "framework/facts/source_locations.h"
#include "framework/wheel/zip.h"

namespace compatrix::facts {

// Picks out of the stream of one file what its tables may lie in. Bounded: a few per cent of the file, never more than
// 80 MiB.
class LibraryCollector {
 public:
  // `also`: ranges that an earlier pass missed.
  explicit LibraryCollector(std::uint64_t size, std::vector<BytesNotKept> also = {});

  // The next piece of the file.
  void append(std::span<const std::byte> piece);

  // After the last piece: the stored form of the library's facts (library_facts.h), also of a file that is no readable
  // ELF file. Throws BytesNotKept.
  [[nodiscard]] std::string encode(RecordAgreement agreement);

 private:
  void choose_ranges();

  std::vector<BytesNotKept> also_;
  KeptBytes kept_;
  SourceLocationScanner locations_;
  bool chosen_ = false;
};

// The facts of one member. `record_sha256` is what RECORD has for the member (base64url), or empty. An Error only where
// the bytes could not be had; a member that is no ELF file is a fact.
Result<std::string> extract_library(RandomAccess& archive, const wheel::ZipEntry& entry,
                                    const std::string& record_sha256);

}  // namespace compatrix::facts
