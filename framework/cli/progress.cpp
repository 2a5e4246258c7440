#include "framework/cli/progress.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

namespace compatrix::cli {
namespace {

bool set_and_not_empty(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

bool dumb_terminal() {
  const char* term = std::getenv("TERM");
  return term == nullptr || std::string_view(term) == "dumb";
}

int columns_of(int descriptor, int otherwise) {
  winsize size{};
  return ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : otherwise;
}

}  // namespace

ProgressLine::ProgressLine(std::function<std::string()> status)
    : status_(std::move(status)),
      terminal_(::isatty(STDERR_FILENO) == 1 && !dumb_terminal()),
      thread_([this] { show(); }) {}

ProgressLine::~ProgressLine() {
  {
    const std::lock_guard guard(mutex_);
    stopping_ = true;
  }
  stop_.notify_all();
  thread_.join();
}

void ProgressLine::show() {
  const auto pause = terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(10'000);
  bool shown = false;
  std::unique_lock lock(mutex_);
  while (!stop_.wait_for(lock, pause, [this] { return stopping_; })) {
    std::string line = status_();
    if (line.empty()) continue;
    if (!terminal_) {
      fmt::print(stderr, "{}\n", line);
      continue;
    }
    line.resize(std::min<std::size_t>(line.size(), static_cast<std::size_t>(columns_of(STDERR_FILENO, 80) - 1)));
    fmt::print(stderr, "\r{}\033[K", line);
    std::fflush(stderr);
    shown = true;
  }
  if (shown) fmt::print(stderr, "\r\033[K");
}

int terminal_width() {
  return columns_of(STDOUT_FILENO, 100);
}
bool wants_colour() {
  return ::isatty(STDOUT_FILENO) == 1 && !set_and_not_empty("NO_COLOR") && !dumb_terminal();
}

}  // namespace compatrix::cli
