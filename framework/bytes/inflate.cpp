#include "framework/bytes/inflate.h"

#include <vector>

#include <fmt/format.h>
#include <isa-l/igzip_lib.h>

namespace compatrix {

struct Inflater::State {
  inflate_state stream{};
  std::vector<std::byte> output = std::vector<std::byte>(256U << 10);
  std::uint64_t limit = 0, produced = 0;
  ByteSink sink;
  bool stopped = false;
};

Inflater::Inflater(std::uint64_t limit, ByteSink sink) : state_(std::make_unique<State>()) {
  isal_inflate_init(&state_->stream);
  state_->limit = limit;
  state_->sink = std::move(sink);
}

Inflater::~Inflater() = default;

bool Inflater::finished() const {
  return state_->stream.block_state == ISAL_BLOCK_FINISH;
}
bool Inflater::stopped() const {
  return state_->stopped;
}

Result<Done> Inflater::feed(std::span<const std::byte> input) {
  State& s = *state_;
  s.stream.next_in = reinterpret_cast<std::uint8_t*>(const_cast<std::byte*>(input.data()));
  s.stream.avail_in = static_cast<std::uint32_t>(input.size());
  while (!finished() && !s.stopped) {
    s.stream.next_out = reinterpret_cast<std::uint8_t*>(s.output.data());
    s.stream.avail_out = static_cast<std::uint32_t>(s.output.size());
    const int outcome = isal_inflate(&s.stream);
    if (outcome < 0) return Error{"", fmt::format("compressed data is damaged (after {} bytes of output)", s.produced)};
    const std::size_t count = s.output.size() - s.stream.avail_out;
    s.produced += count;
    if (s.produced > s.limit) return Error{"", fmt::format("decompresses to more than its declared {} bytes", s.limit)};
    if (count != 0 && !s.sink(std::span(s.output).first(count))) s.stopped = true;
    if (s.stream.avail_in == 0 && s.stream.avail_out != 0) break;
  }
  return Done{};
}

}  // namespace compatrix
