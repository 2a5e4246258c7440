// One status line on a terminal, a plain line now and then elsewhere. Always on standard error.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace compatrix::cli {

class ProgressLine {
 public:
  // `status` gives the current line, empty for nothing to say.
  explicit ProgressLine(std::function<std::string()> status);
  ~ProgressLine();  // clears the line
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

 private:
  void show();

  std::function<std::string()> status_;
  bool terminal_;
  std::mutex mutex_;
  std::condition_variable stop_;
  bool stopping_ = false;
  std::thread thread_;
};

// Columns of the terminal that standard output is, or 100.
int terminal_width();
// Standard output is a terminal that wants colour (NO_COLOR, TERM=dumb).
bool wants_colour();

}  // namespace compatrix::cli
