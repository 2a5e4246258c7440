// The worker's half: takes jobs from the socket, answers each with a result and its end marker.
#include <exception>

#include <fcntl.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "framework/checks/result_json.h"
#include "framework/scheduler/frames.h"
#include "framework/scheduler/worker_pool.h"

namespace compatrix {
namespace {

using Json = nlohmann::ordered_json;

// The next frame, or nothing when the coordinator closed the socket.
std::optional<Json> next_frame(FrameReader& frames) {
  for (;;) {
    if (auto frame = frames.take()) return Json::parse(*frame);
    const FrameReader::State state = frames.receive(kWorkerDescriptor);
    if (state == FrameReader::State::closed || state == FrameReader::State::garbage) return std::nullopt;
  }
}

}  // namespace

int serve_jobs(const Evaluate& evaluate) {
  // What a check starts must not hold the socket.
  if (::fcntl(kWorkerDescriptor, F_SETFD, FD_CLOEXEC) != 0) return 2;
  FrameReader frames;
  while (const auto job = next_frame(frames)) {
    const auto ask = [&](const nlohmann::json& wanted) -> nlohmann::json {
      send_frame(kWorkerDescriptor, Json{{"type", "ask"}, {"wanted", wanted}}.dump());
      const auto answer = next_frame(frames);
      if (!answer) throw std::runtime_error("the coordinator is gone");
      return answer->at("facts");
    };
    const WorkerRequest request{.check = job->at("check").get<std::string>(),
                                .plugin = job->at("plugin").get<std::string>(),
                                .request = job->at("request").get<std::string>(),
                                .ask = ask};
    const CheckResult result = evaluate(request);
    if (!send_frame(kWorkerDescriptor,
                    Json{{"type", "result"}, {"job", job->at("job")}, {"result", to_json(result)}}.dump()) ||
        !send_frame(kWorkerDescriptor, Json{{"type", "end"}, {"job", job->at("job")}}.dump()))
      return 1;
  }
  return 0;
}

}  // namespace compatrix
