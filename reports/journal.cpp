#include "reports/journal.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <unordered_map>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "framework/base/text.h"
#include "reports/reported_json.h"

namespace compatrix {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "compatrix/journal/1";

Json planned_cell(const ReportedCell& cell) {
  Json json{{"event", "cell"}, {"id", visible_utf8(cell.id)}, {"axes", Json::array()}, {"checks", Json::array()}};
  for (const auto& [name, value] : cell.axes) json["axes"].push_back({visible_utf8(name), visible_utf8(value)});
  if (!cell.excluded.empty()) json["excluded"] = visible_utf8(cell.excluded);
  for (const ReportedResult& planned : cell.results) json["checks"].push_back(visible_utf8(planned.result.check));
  return json;
}

// Puts lines back together to a report.
class JournalReplay {
 public:
  void apply(const Json& line) {
    const auto event = line.at("event").get<std::string>();
    if (event == "run") {
      report_.name = line.at("name").get<std::string>();
      report_.tool_version = line.at("tool_version").get<std::string>();
      report_.started = line.at("started").get<std::string>();
      report_.host = line.at("host").get<std::string>();
    } else if (event == "cell") {
      add_cell(line);
    } else if (event == "environment") {
      ReportedCell& cell = find(line.at("cell").get<std::string>());
      cell.environment_json = line.at("environment").dump();
      cell.error = line.at("error").get<std::string>();
    } else if (event == "result") {
      put_result(find(line.at("cell").get<std::string>()), reported_from_json(line.at("result")));
    } else if (event == "end") {
      report_.duration_s = line.at("duration_s").get<double>();
      report_.interrupted = line.at("interrupted").get<bool>();
    }
  }

  Report finish(bool whole) {
    if (!whole) report_.interrupted = true;
    for (ReportedCell& cell : report_.cells)
      for (ReportedResult& reported : cell.results) {
        if (!reported.result.summary.empty()) continue;
        if (!cell.excluded.empty()) {
          reported.result.status = Status::excluded;
          reported.result.summary = cell.excluded;
        } else {
          reported.result.summary = cell.error.empty() ? "not run: the run was interrupted" : cell.error;
        }
      }
    return std::move(report_);
  }

 private:
  void add_cell(const Json& line) {
    ReportedCell cell{.id = line.at("id").get<std::string>(),
                      .axes = {},
                      .excluded = line.value("excluded", ""),
                      .error = {},
                      .results = {}};
    for (const Json& axis : line.at("axes"))
      cell.axes.emplace_back(axis.at(0).get<std::string>(), axis.at(1).get<std::string>());
    for (const Json& check : line.at("checks")) cell.results.push_back({.result = {.check = check.get<std::string>()}});
    position_.emplace(cell.id, report_.cells.size());
    report_.cells.push_back(std::move(cell));
  }

  ReportedCell& find(const std::string& id) {
    const auto place = position_.find(id);
    if (place == position_.end()) throw std::runtime_error("a result of a cell that was not planned");
    return report_.cells[place->second];
  }

  static void put_result(ReportedCell& cell, ReportedResult reported) {
    for (ReportedResult& planned : cell.results)
      if (planned.result.check == reported.result.check) {
        if (reported.result.summary.empty()) reported.result.summary = std::string(word(reported.result.status));
        planned = std::move(reported);
        return;
      }
    cell.results.push_back(std::move(reported));
  }

  Report report_;
  std::unordered_map<std::string, std::size_t> position_;  // of cells, by id
};

}  // namespace

Result<Journal> Journal::create(const std::filesystem::path& file) {
  std::error_code failure;
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), failure);
  if (!failure && std::filesystem::exists(file)) std::filesystem::rename(file, file.string() + ".previous", failure);
  if (failure) return Error{file.string(), "the journal can't be begun: " + failure.message()};
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0) return Error{file.string(), fmt::format("the journal can't be begun: {}", std::strerror(errno))};
  return Journal(descriptor);
}

Journal::Journal(Journal&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), synced_(other.synced_) {}
Journal& Journal::operator=(Journal&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  synced_ = other.synced_;
  return *this;
}
Journal::~Journal() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<Done> Journal::append(const std::string& line, bool sync_now) {
  const std::string whole = line + "\n";
  const off_t begun = ::lseek(descriptor_, 0, SEEK_END);
  for (std::size_t at = 0; at < whole.size();) {
    const ssize_t n = ::write(descriptor_, whole.data() + at, whole.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const int cause = errno;
      // Half a line would spoil the one that a later call appends. Where this fails too, the reader says so.
      static_cast<void>(!::ftruncate(descriptor_, begun));
      return Error{"journal", fmt::format("can't be written: {}; make room and run again", std::strerror(cause))};
    }
    at += static_cast<std::size_t>(n);
  }
  const auto now = std::chrono::steady_clock::now();
  if (!sync_now && now - synced_ < std::chrono::seconds(1)) return Done{};
  synced_ = now;
  if (::fdatasync(descriptor_) != 0) return Error{"journal", fmt::format("can't be written: {}", std::strerror(errno))};
  return Done{};
}

Result<Done> Journal::begin(const Report& planned) {
  const Json head{{"event", "run"},
                  {"schema", kSchema},
                  {"name", visible_utf8(planned.name)},
                  {"tool_version", planned.tool_version},
                  {"started", planned.started},
                  {"host", visible_utf8(planned.host)}};
  if (const auto written = append(head.dump(), false); !written) return written.error();
  for (const ReportedCell& cell : planned.cells)
    if (const auto written = append(planned_cell(cell).dump(), false); !written) return written.error();
  return Done{};
}

Result<Done> Journal::environment(const std::string& cell, const std::string& environment_json,
                                  const std::string& error) {
  return append(Json{{"event", "environment"},
                     {"cell", visible_utf8(cell)},
                     {"environment", Json::parse(environment_json)},
                     {"error", visible_utf8(error)}}
                    .dump(),
                false);
}

Result<Done> Journal::result(const std::string& cell, const ReportedResult& result) {
  return append(Json{{"event", "result"}, {"cell", visible_utf8(cell)}, {"result", to_json(result)}}.dump(), false);
}

Result<Done> Journal::end(double duration_s, bool interrupted) {
  return append(Json{{"event", "end"}, {"duration_s", duration_s}, {"interrupted", interrupted}}.dump(), true);
}

Result<Report> read_journal(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) return Error{file.string(), "there is no such journal"};
  JournalReplay replay;
  bool ended = false;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    const Json parsed = Json::parse(line, nullptr, false);
    const bool last = in.peek() == std::char_traits<char>::eof();
    if (parsed.is_discarded() && last) break;  // cut off while it was written
    try {
      if (number == 1 && parsed.value("schema", "") != kSchema)
        return Error{file.string(), "is no journal of this form"};
      replay.apply(parsed);
      ended |= parsed.at("event") == "end";
    } catch (const std::exception& failure) {
      return Error{fmt::format("{}:{}", file.string(), number), std::string("is damaged: ") + failure.what()};
    }
  }
  if (number == 0) return Error{file.string(), "is empty"};
  return replay.finish(ended);
}

}  // namespace compatrix
