#include "framework/bytes/digest.h"

#include <array>

#include <isa-l/crc.h>
#include <openssl/evp.h>

namespace compatrix {

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  State() { EVP_DigestInit_ex(context, EVP_sha256(), nullptr); }
  ~State() { EVP_MD_CTX_free(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  std::array<unsigned char, 32> finish() {
    std::array<unsigned char, 32> digest{};
    EVP_DigestFinal_ex(context, digest.data(), nullptr);
    return digest;
  }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::span<const std::byte> bytes) {
  EVP_DigestUpdate(state_->context, bytes.data(), bytes.size());
}

std::string Sha256::hex() {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : state_->finish()) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string Sha256::base64url() {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string text;
  unsigned pending = 0, bits = 0;
  for (const unsigned char byte : state_->finish()) {
    pending = pending << 8 | byte;
    for (bits += 8; bits >= 6; bits -= 6) text += kDigits[pending >> (bits - 6) & 63];
  }
  if (bits > 0) text += kDigits[pending << (6 - bits) & 63];
  return text;
}

Result<std::string> sha256_of(RandomAccess& file) {
  Sha256 digest;
  const auto read = file.stream(0, file.size(), [&](std::span<const std::byte> piece) {
    digest.update(piece);
    return true;
  });
  if (!read) return read.error();
  return digest.hex();
}

std::uint32_t crc32(std::uint32_t crc, std::span<const std::byte> bytes) {
  return crc32_gzip_refl(crc, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

}  // namespace compatrix
