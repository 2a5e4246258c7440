// SHA-256 (FIPS 180-4, by OpenSSL) and the CRC-32 of ZIP archives (APPNOTE 4.4.7, by ISA-L), both incremental.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "framework/base/result.h"
#include "framework/bytes/random_access.h"

namespace compatrix {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  void update(std::span<const std::byte> bytes);
  // The digest of what was given so far; the object can't be used afterwards.
  std::string hex();
  std::string base64url();  // without padding, as RECORD has it

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The sha256 of a whole file, hexadecimal.
Result<std::string> sha256_of(RandomAccess& file);

// Continues `crc` (0 to begin) over `bytes`.
std::uint32_t crc32(std::uint32_t crc, std::span<const std::byte> bytes);

}  // namespace compatrix
