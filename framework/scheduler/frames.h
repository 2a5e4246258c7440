// Frames on a stream socket: four bytes of length, little-endian, then that many bytes of JSON.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace compatrix {

inline constexpr std::uint32_t kLargestFrame = 64U << 20;
// Where a worker finds its end of the socket.
inline constexpr int kWorkerDescriptor = 3;

// Writes a whole frame; false when the other end is gone.
bool send_frame(int descriptor, std::string_view json);

// Takes bytes as they come and gives whole frames.
class FrameReader {
 public:
  enum class State { more, frame, closed, garbage };
  // One read of the descriptor. `frame`: take() has one.
  State receive(int descriptor);
  // The next whole frame that is already here, or nothing.
  std::optional<std::string> take();

 private:
  std::string buffer_;
};

}  // namespace compatrix
