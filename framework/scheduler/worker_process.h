// One worker process: started with a cleared environment in its own session, spoken to over a socket, its output kept
// (the end of it), ended with everything that it started.
#pragma once

#include <filesystem>
#include <string>

#include <sys/types.h>

#include "framework/base/result.h"
#include "framework/scheduler/frames.h"

namespace compatrix {

class WorkerProcess {
 public:
  static Result<WorkerProcess> start(const std::filesystem::path& program);
  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&& other) noexcept;
  ~WorkerProcess();  // ends it

  [[nodiscard]] int socket() const { return socket_; }
  FrameReader& frames() { return frames_; }

  // What happened while waiting.
  enum class Event { frame, silence, closed, garbage };
  // Waits until a frame is there, the worker closes its socket, or the time is over.
  Event wait(int milliseconds);

  // Ends the whole process group and returns how the worker itself had ended by then: "SIGSEGV", "exit status 3".
  std::string end();
  // The last 64 KiB of what it printed.
  [[nodiscard]] const std::string& printed() const { return printed_; }

 private:
  WorkerProcess(pid_t child, int socket, int output) : child_(child), socket_(socket), output_(output) {}
  void keep_output();
  [[nodiscard]] bool has_died() const;

  pid_t child_ = -1;
  int socket_ = -1, output_ = -1;
  FrameReader frames_;
  std::string printed_;
};

}  // namespace compatrix
