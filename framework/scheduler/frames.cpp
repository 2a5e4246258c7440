#include "framework/scheduler/frames.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <sys/socket.h>
#include <unistd.h>

namespace compatrix {

bool send_frame(int descriptor, std::string_view json) {
  std::string frame(4, '\0');
  const auto size = static_cast<std::uint32_t>(json.size());
  std::memcpy(frame.data(), &size, sizeof size);
  frame.append(json);
  for (std::size_t at = 0; at < frame.size();) {
    const ssize_t n = ::send(descriptor, frame.data() + at, frame.size() - at, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += static_cast<std::size_t>(n);
  }
  return true;
}

FrameReader::State FrameReader::receive(int descriptor) {
  std::array<char, 65536> piece{};
  const ssize_t n = ::read(descriptor, piece.data(), piece.size());
  if (n < 0 && errno == EINTR) return State::more;
  if (n <= 0) return State::closed;
  buffer_.append(piece.data(), static_cast<std::size_t>(n));
  if (buffer_.size() < 4) return State::more;
  std::uint32_t size = 0;
  std::memcpy(&size, buffer_.data(), sizeof size);
  if (size > kLargestFrame) return State::garbage;
  return buffer_.size() >= 4 + std::size_t{size} ? State::frame : State::more;
}

std::optional<std::string> FrameReader::take() {
  std::uint32_t size = 0;
  if (buffer_.size() < 4) return std::nullopt;
  std::memcpy(&size, buffer_.data(), sizeof size);
  if (buffer_.size() < 4 + std::size_t{size}) return std::nullopt;
  std::string frame = buffer_.substr(4, size);
  buffer_.erase(0, 4 + std::size_t{size});
  return frame;
}

}  // namespace compatrix
