#include "framework/scheduler/worker_process.h"

#include <algorithm>
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

// A descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }
  [[nodiscard]] int get() const { return descriptor_; }
  int release() { return std::exchange(descriptor_, -1); }
  void close() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }

 private:
  int descriptor_;
};

// After fork only async-signal-safe calls. Why the program can't be run goes to `refusal`.
[[noreturn]] void become_worker(const char* program, char* const* arguments, char* const* environment, int socket,
                                int output, int refusal, pid_t parent) {
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(126);  // the coordinator died before the line above
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  refusal = ::fcntl(refusal, F_DUPFD_CLOEXEC, kWorkerDescriptor + 1);  // out of the socket's way
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  if (socket == kWorkerDescriptor)
    ::fcntl(socket, F_SETFD, 0);
  else
    ::dup2(socket, kWorkerDescriptor);
  ::execve(program, arguments, environment);
  const int cause = errno;
  static_cast<void>(!::write(refusal, &cause, sizeof cause));
  ::_exit(127);
}

// Waits until the child runs its program: 0, or why it can't.
int refusal_told(int descriptor) {
  int cause = 0;
  ssize_t n = 0;
  do n = ::read(descriptor, &cause, sizeof cause);
  while (n < 0 && errno == EINTR);
  return n == sizeof cause ? cause : 0;
}

}  // namespace

Result<WorkerProcess> WorkerProcess::start(const std::filesystem::path& program) {
  const auto refuse = [&](int cause) {
    return Error{program.string(), fmt::format("no worker can be started: {}", std::strerror(cause))};
  };
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return refuse(errno);
  Descriptor socket(ends[0]), its_socket(ends[1]);
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return refuse(errno);
  Descriptor output(ends[0]), its_output(ends[1]);
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return refuse(errno);
  Descriptor refusal(ends[0]), its_refusal(ends[1]);
  std::vector<std::string> arguments{program.string(), "worker"}, environment = worker_environment();
  const std::vector<char*> argument_array = pointers(arguments), environment_array = pointers(environment);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0)
    become_worker(program.c_str(), argument_array.data(), environment_array.data(), its_socket.get(), its_output.get(),
                  its_refusal.get(), parent);
  if (child < 0) return refuse(errno);
  its_socket.close();
  its_output.close();
  its_refusal.close();
  ::fcntl(output.get(), F_SETFL, O_NONBLOCK);
  WorkerProcess worker(child, socket.release(), output.release());
  if (const int cause = refusal_told(refusal.get()); cause != 0) return refuse(cause);
  return worker;
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
  if (milliseconds <= 0) return Event::silence;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    // A process that the worker started may hold its socket open beyond its death.
    const bool died = left <= 0 && has_died();
    if (left <= 0 && !died) return Event::silence;
    std::array<pollfd, 2> waiting{pollfd{socket_, POLLIN, 0}, pollfd{output_, POLLIN, 0}};
    ::poll(waiting.data(), waiting.size(), static_cast<int>(std::max<long>(left, 0)));
    if (died && waiting[0].revents == 0) return Event::closed;
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

bool WorkerProcess::has_died() const {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(child_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
}

std::string WorkerProcess::end() {
  if (child_ < 0) return "had ended";
  // A worker that closed its socket is about to end by itself: let its own way of ending be seen.
  bool died = has_died();
  for (int i = 0; i < 20 && !died; ++i) {
    std::array<char, 1> byte{};
    if (::recv(socket_, byte.data(), 1, MSG_PEEK | MSG_DONTWAIT) != 0) break;  // it still holds the socket
    ::usleep(5000);
    died = has_died();
  }
  // Before it is waited for: until then the number of its group can't become another's.
  ::kill(-child_, SIGKILL);
  ::kill(child_, SIGKILL);  // it may not have come to its own session yet
  int status = 0;
  while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  child_ = -1;
  keep_output();
  if (!died) return "was ended";
  if (!WIFSIGNALED(status)) return fmt::format("exit status {}", WEXITSTATUS(status));
  const char* name = sigabbrev_np(WTERMSIG(status));  // real-time signals have none
  return name == nullptr ? fmt::format("signal {}", WTERMSIG(status)) : fmt::format("SIG{}", name);
}

}  // namespace compatrix
