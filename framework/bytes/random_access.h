// A file that is read by ranges: on this machine, or on a server. The wheel readers do not know which.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "framework/base/result.h"

namespace compatrix {

// Receives consecutive pieces of a range; returning false stops the transfer (which is then not an error).
using ByteSink = std::function<bool(std::span<const std::byte> piece)>;

class RandomAccess {
 public:
  virtual ~RandomAccess() = default;
  // Path or URL for messages; never with credentials.
  [[nodiscard]] virtual const std::string& name() const = 0;
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  // Exactly `length` bytes or an error.
  virtual Result<std::vector<std::byte>> read(std::uint64_t offset, std::uint64_t length) = 0;
  // The range in order, in pieces. Safe to call from several threads at once.
  virtual Result<Done> stream(std::uint64_t offset, std::uint64_t length, const ByteSink& sink) = 0;
};

Result<std::shared_ptr<RandomAccess>> open_local_file(const std::filesystem::path& path);

}  // namespace compatrix
