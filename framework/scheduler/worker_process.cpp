#include "framework/scheduler/worker_process.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

namespace compatrix {
namespace {

constexpr std::size_t kKeptOutput = 64U << 10;

// What a worker may know of its surroundings: no index addresses, tokens or user settings among it.
std::vector<std::string> worker_environment() {
  std::vector<std::string> environment{"LANG=C.UTF-8", "PYTHONNOUSERSITE=1"};
  for (const char* name :
       {"PATH", "TMPDIR", "COMPATRIX_PLUGIN_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LD_LIBRARY_PATH"})
    if (const char* value = std::getenv(name)) environment.push_back(fmt::format("{}={}", name, value));
  return environment;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> array;
  for (std::string& text : strings) array.push_back(text.data());
  array.push_back(nullptr);
  return array;
}

// After fork only async-signal-safe calls.
[[noreturn]] void become_worker(const char* program, char* const* arguments, char* const* environment, int socket,
                                int output, pid_t parent) {
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(126);  // the coordinator died before the line above
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  if (socket == kWorkerDescriptor)
    ::fcntl(socket, F_SETFD, 0);
  else
    ::dup2(socket, kWorkerDescriptor);
  ::execve(program, arguments, environment);
  ::_exit(127);
}

}  // namespace

Result<WorkerProcess> WorkerProcess::start(const std::filesystem::path& program) {
  const auto refuse = [&](int cause) {
    return Error{program.string(), fmt::format("no worker can be started: {}", std::strerror(cause))};
  };
  std::array<int, 2> sockets{}, output{};
  if (::access(program.c_str(), X_OK) != 0) return refuse(errno);
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0) return refuse(errno);
  if (::pipe2(output.data(), O_CLOEXEC) != 0) {
    const int cause = errno;
    ::close(sockets[0]);
    ::close(sockets[1]);
    return refuse(cause);
  }
  std::vector<std::string> arguments{program.string(), "worker"}, environment = worker_environment();
  const std::vector<char*> argument_array = pointers(arguments), environment_array = pointers(environment);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0)
    become_worker(program.c_str(), argument_array.data(), environment_array.data(), sockets[1], output[1], parent);
  const int cause = errno;
  ::close(sockets[1]);
  ::close(output[1]);
  ::fcntl(output[0], F_SETFL, O_NONBLOCK);
  if (child > 0) return WorkerProcess(child, sockets[0], output[0]);
  ::close(sockets[0]);
  ::close(output[0]);
  return refuse(cause);
}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept
    : child_(std::exchange(other.child_, -1)),
      socket_(std::exchange(other.socket_, -1)),
      output_(std::exchange(other.output_, -1)),
      frames_(std::move(other.frames_)),
      printed_(std::move(other.printed_)) {}

WorkerProcess& WorkerProcess::operator=(WorkerProcess&& other) noexcept {
  std::swap(child_, other.child_);
  std::swap(socket_, other.socket_);
  std::swap(output_, other.output_);
  std::swap(frames_, other.frames_);
  std::swap(printed_, other.printed_);
  return *this;
}

WorkerProcess::~WorkerProcess() {
  end();
  if (socket_ >= 0) ::close(socket_);
  if (output_ >= 0) ::close(output_);
}

void WorkerProcess::keep_output() {
  std::array<char, 16384> piece{};
  // Bounded: a worker that floods its output is read no faster than it is waited for.
  for (int i = 0; i < 64; ++i) {
    const ssize_t n = ::read(output_, piece.data(), piece.size());
    if (n <= 0) return;
    printed_.append(piece.data(), static_cast<std::size_t>(n));
    if (printed_.size() > kKeptOutput) printed_.erase(0, printed_.size() - kKeptOutput);
  }
}

WorkerProcess::Event WorkerProcess::wait(int milliseconds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    if (left <= 0) return Event::silence;
    std::array<pollfd, 2> waiting{pollfd{socket_, POLLIN, 0}, pollfd{output_, POLLIN, 0}};
    ::poll(waiting.data(), waiting.size(), static_cast<int>(left));
    if ((waiting[1].revents & (POLLIN | POLLHUP)) != 0) keep_output();
    // A closed output says nothing: wait on for the socket alone.
    if ((waiting[1].revents & POLLHUP) != 0 && (waiting[0].revents == 0))
      ::poll(waiting.data(), 1, static_cast<int>(std::min<long>(left, 50)));
    if (waiting[0].revents == 0) continue;
    switch (frames_.receive(socket_)) {
      case FrameReader::State::frame:
        return Event::frame;
      case FrameReader::State::closed:
        return Event::closed;
      case FrameReader::State::garbage:
        return Event::garbage;
      case FrameReader::State::more:
        break;
    }
  }
}

std::string WorkerProcess::end() {
  if (child_ < 0) return "had ended";
  int status = 0;
  // A worker that closed its socket is about to end by itself: let its own way of ending be seen.
  pid_t ended = 0;
  for (int i = 0; i < 20 && ended == 0; ++i) {
    ended = ::waitpid(child_, &status, WNOHANG);
    if (ended == 0) {
      std::array<char, 1> byte{};
      if (::recv(socket_, byte.data(), 1, MSG_PEEK | MSG_DONTWAIT) != 0) break;  // it still holds the socket
      ::usleep(5000);
    }
  }
  ::kill(-child_, SIGKILL);
  if (ended == 0)
    while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
  child_ = -1;
  keep_output();
  if (ended == 0) return "was ended";
  if (WIFSIGNALED(status)) return fmt::format("SIG{}", sigabbrev_np(WTERMSIG(status)));
  return fmt::format("exit status {}", WEXITSTATUS(status));
}

}  // namespace compatrix
