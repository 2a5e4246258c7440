#include "framework/base/subprocess.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

extern char** environ;

namespace compatrix {
namespace {

struct Pipe {
  int read = -1, write = -1;
  bool open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    read = ends[0];
    write = ends[1];
    return true;
  }
  void close_end(int& end) {
    if (end >= 0) ::close(std::exchange(end, -1));
  }
  ~Pipe() {
    close_end(read);
    close_end(write);
  }
};

std::vector<std::string> merged_environment(const ProgramRun& run) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    bool replaced = false;
    for (const auto& [key, value] : run.environment) replaced |= key == name;
    if (!replaced) merged.emplace_back(text);
  }
  for (const auto& [key, value] : run.environment) merged.push_back(key + "=" + value);
  return merged;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> array;
  for (std::string& text : strings) array.push_back(text.data());
  array.push_back(nullptr);
  return array;
}

// After fork only async-signal-safe calls: the arrays were made before.
[[noreturn]] void become(char* const* arguments, char* const* environment, int output, int errors, int failure) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  ::execvpe(arguments[0], arguments, environment);
  const int cause = errno;
  [[maybe_unused]] const ssize_t told = ::write(failure, &cause, sizeof cause);
  ::_exit(127);
}

// Reads both streams until they end, keeping at most `longest` bytes of each. False: the time ran out.
bool collect(Pipe& output, Pipe& errors, const ProgramRun& run, ProgramOutcome& outcome) {
  const auto deadline = std::chrono::steady_clock::now() + run.timeout;
  std::array<pollfd, 2> waiting{pollfd{output.read, POLLIN, 0}, pollfd{errors.read, POLLIN, 0}};
  std::array<std::string*, 2> kept{&outcome.output, &outcome.errors};
  while (waiting[0].fd >= 0 || waiting[1].fd >= 0) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    if (left <= 0) return false;
    if (::poll(waiting.data(), waiting.size(), static_cast<int>(std::min<long>(left, 1000))) < 0 && errno != EINTR)
      return true;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if (waiting[i].fd < 0 || waiting[i].revents == 0) continue;
      std::array<char, 16384> piece{};
      const ssize_t n = ::read(waiting[i].fd, piece.data(), piece.size());
      if (n > 0)
        kept[i]->append(piece.data(), std::min(static_cast<std::size_t>(n),
                                               run.longest_output - std::min(run.longest_output, kept[i]->size())));
      else if (n == 0 || errno != EINTR)
        waiting[i].fd = -1;
    }
  }
  return true;
}

}  // namespace

Result<ProgramOutcome> run_program(const ProgramRun& run) {
  std::vector<std::string> arguments = run.arguments, environment = merged_environment(run);
  const std::vector<char*> argument_array = pointers(arguments), environment_array = pointers(environment);
  Pipe output, errors, failure;
  if (!output.open() || !errors.open() || !failure.open())
    return Error{run.arguments.front(), fmt::format("can't be started: {}", std::strerror(errno))};
  const pid_t child = ::fork();
  if (child < 0) return Error{run.arguments.front(), fmt::format("can't be started: {}", std::strerror(errno))};
  if (child == 0) become(argument_array.data(), environment_array.data(), output.write, errors.write, failure.write);
  output.close_end(output.write);
  errors.close_end(errors.write);
  failure.close_end(failure.write);

  ProgramOutcome outcome;
  outcome.timed_out = !collect(output, errors, run, outcome);
  if (outcome.timed_out) ::kill(-child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  int cause = 0;
  if (::read(failure.read, &cause, sizeof cause) == static_cast<ssize_t>(sizeof cause))
    return Error{run.arguments.front(), fmt::format("can't be started: {}", std::strerror(cause))};
  outcome.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return outcome;
}

}  // namespace compatrix
