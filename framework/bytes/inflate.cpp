#include "framework/bytes/inflate.h"

#include <fmt/format.h>
#include <isa-l/igzip_lib.h>

namespace compatrix {
namespace {

constexpr std::uint64_t kPiece = 256U << 10;  // of output: small enough to stay in the CPU's cache for who hashes it

}  // namespace

struct Inflater::State {
  inflate_state stream;
  std::size_t room = 0;
  std::unique_ptr<std::byte[]> output;  // of `room` bytes
  std::uint64_t limit = 0, produced = 0;
  ByteSink sink;
  bool stopped = false;
};

Inflater::Inflater(std::uint64_t limit, ByteSink sink) : state_(std::make_unique_for_overwrite<State>()) {
  // Wheels have thousands of small members: nothing is cleared, no more is allocated than can come out.
  isal_inflate_init(&state_->stream);
  state_->room = static_cast<std::size_t>(limit < kPiece ? limit + 1 : kPiece);
  state_->output = std::make_unique_for_overwrite<std::byte[]>(state_->room);
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
    s.stream.next_out = reinterpret_cast<std::uint8_t*>(s.output.get());
    s.stream.avail_out = static_cast<std::uint32_t>(s.room);
    const int outcome = isal_inflate(&s.stream);
    if (outcome < 0) return Error{"", fmt::format("compressed data is damaged (after {} bytes of output)", s.produced)};
    const std::size_t count = s.room - s.stream.avail_out;
    s.produced += count;
    if (s.produced > s.limit) return Error{"", fmt::format("decompresses to more than its declared {} bytes", s.limit)};
    if (count != 0 && !s.sink(std::span(s.output.get(), count))) s.stopped = true;
    if (s.stream.avail_in == 0 && s.stream.avail_out != 0) break;
  }
  return Done{};
}

}  // namespace compatrix
