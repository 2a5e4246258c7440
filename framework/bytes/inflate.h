// Raw DEFLATE (RFC 1951) as a stream, by ISA-L, with a limit on what comes out.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "framework/base/result.h"
#include "framework/bytes/random_access.h"

namespace compatrix {

class Inflater {
 public:
  // More than `limit` bytes of output is an error. Pieces of output go to `sink`.
  Inflater(std::uint64_t limit, ByteSink sink);
  ~Inflater();

  // The next piece of compressed input. The Error says what was wrong with the data.
  Result<Done> feed(std::span<const std::byte> input);

  [[nodiscard]] bool finished() const;  // the final block's end was met
  [[nodiscard]] bool stopped() const;   // the sink wants no more

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace compatrix
