// Locking with uv: the request as its input files, its complaints as one sentence.
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <fstream>

#include <unistd.h>

#include <fmt/format.h>

#include "framework/base/subprocess.h"
#include "framework/base/text.h"
#include "framework/base/version.h"
#include "framework/bytes/digest.h"
#include "framework/bytes/mapped_file.h"
#include "framework/bytes/random_access.h"
#include "framework/wheel/dist_info.h"
#include "framework/wheel/index_configuration.h"
#include "framework/wheel/lock.h"
#include "framework/wheel/stub_wheel.h"

namespace compatrix::wheel {
namespace {

// A private folder that is gone when this is.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "compatrix-lock-XXXXXX").string();
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

bool write_lines(const std::filesystem::path& file, const std::vector<std::string>& lines) {
  std::ofstream out(file);
  for (const std::string& line : lines) out << line << '\n';
  return static_cast<bool>(out.flush());
}

// What uv says, without its drawing characters, as one line.
std::string one_line(const std::string& errors) {
  std::string sentence;
  bool blank = false;
  for (const char c : without_credentials(errors)) {
    const bool drawing = static_cast<unsigned char>(c) >= 0x80;
    if (drawing || c == '\n' || c == ' ' || c == '\t') {
      blank = !sentence.empty();
      continue;
    }
    if (blank) sentence += ' ';
    blank = false;
    sentence += c;
  }
  return sentence;
}

// uv's chain of causes as one sentence: what failed, the cause behind it, what to do.
std::string one_sentence(const std::string& errors) {
  std::string sentence = one_line(errors);
  for (const std::string_view prefix : {"x ", "error: ", "No solution found when resolving dependencies cause: "})
    if (sentence.starts_with(prefix)) sentence.erase(0, prefix.size());
  constexpr std::string_view kCause = " cause: ", kFetch = "Failed to fetch: ",
                             kEnd = ", we can conclude that your requirements are unsatisfiable.";
  if (const std::size_t at = sentence.find(kFetch); at != std::string::npos) {
    const std::string address = sentence.substr(at + kFetch.size(), sentence.find(kCause, at) - at - kFetch.size());
    const std::size_t last = sentence.rfind(kCause);
    const std::string why =
        last == std::string::npos || last < at ? "no answer" : sentence.substr(last + kCause.size());
    return visible_utf8(fmt::format(
        "the index can't be read at {} ({}); check the network and which index is configured", address, why));
  }
  if (const std::size_t at = sentence.find(kEnd); at != std::string::npos)
    sentence.replace(at, kEnd.size(), "; ask for another version, a further index or a folder of wheels that has it");
  constexpr std::size_t kLongest = 600;
  if (sentence.size() > kLongest) sentence = sentence.substr(0, kLongest) + " ...";
  return visible_utf8(sentence);
}

// A path in an address: everything but what stands for itself there is percent-encoded.
std::string file_address(const std::string& path) {
  std::string address = "file://";
  for (const char c : path)
    address +=
        std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("/._-~+").find(c) != std::string::npos
            ? std::string(1, c)
            : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return address;
}

// The stub of a wheel that is a requirement, in a folder of its own.
Result<StubWheel> stub_for(const LockRequest& request, const std::string& path, const std::filesystem::path& folder) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return Error{path, "is no file; name a wheel that is there"};
  if (const auto known = request.digests.find(path); known != request.digests.end())
    return write_stub_wheel(path, known->second, folder);
  const auto archive = open_local_file(path);
  if (!archive) return archive.error();
  const auto digest = sha256_of(**archive);
  if (!digest) return digest.error();
  return write_stub_wheel(path, *digest, folder);
}

// A requirement as uv's files have it. A line of such a file may also be an option, so nothing else gets there.
Result<std::string> requirement_line(const std::string& text) {
  if (text.find_first_of("\r\n") != std::string::npos)
    return Error{visible_utf8(text.substr(0, text.find_first_of("\r\n"))),
                 "is more than one line; a requirement is one"};
  const auto requirement = parse_requirement(text);
  if (!requirement) return requirement.error();
  if (const auto specifiers = SpecifierSet::parse(requirement->specifiers); !specifiers)
    return Error{text, "is no requirement: " + specifiers.error().text()};
  return text;
}

// The newest platform with a name in uv that is not newer than the target.
std::string platform_name(const LockTarget& target) {
  constexpr std::array kNamed{40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 28, 17};
  int minor = 0;
  std::from_chars(target.glibc.data() + std::min<std::size_t>(2, target.glibc.size()),
                  target.glibc.data() + target.glibc.size(), minor);
  const auto* const named = std::find_if(kNamed.begin(), kNamed.end(), [&](int known) { return known <= minor; });
  return fmt::format("{}-manylinux_2_{}", target.machine, named == kNamed.end() ? kNamed.back() : *named);
}

std::vector<std::string> arguments_for(const LockRequest& request, const std::filesystem::path& uv,
                                       const std::filesystem::path& folder) {
  std::vector<std::string> arguments{uv.string(),
                                     "pip",
                                     "compile",
                                     "--quiet",
                                     "--no-progress",
                                     "--color",
                                     "never",
                                     "--no-config",
                                     "--format",
                                     "pylock.toml",
                                     "--only-binary",
                                     ":all:",
                                     "--python-version",
                                     request.target.python,
                                     "--python-platform",
                                     platform_name(request.target),
                                     "--output-file",
                                     (folder / "pylock.toml").string()};
  for (const auto& links : request.find_links) {
    arguments.emplace_back("--find-links");
    arguments.push_back(links.string());
  }
  if (request.without_dependencies) {
    arguments.emplace_back("--no-deps");
  } else {
    arguments.emplace_back("--overrides");
    arguments.push_back((folder / "overrides.txt").string());
  }
  arguments.push_back((folder / "requirements.txt").string());
  return arguments;
}

// What uv says of a stub is said of the wheel that it stands for.
std::string with_real_paths(std::string text, const std::vector<StubWheel>& stubs) {
  for (const StubWheel& stub : stubs)
    for (const std::string& named : {file_address(stub.stub.string()), stub.stub.string()})
      for (std::size_t at = text.find(named); at != std::string::npos; at = text.find(named, at))
        text.replace(at, named.size(), stub.wheel.string()), at += stub.wheel.string().size();
  return text;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + text;
  return all;
}

// What uv is asked, line by line, and the stubs that some lines name.
struct Input {
  std::vector<std::string> lines;
  std::vector<StubWheel> stubs;
};

Result<Input> input_for(const LockRequest& request, const std::filesystem::path& scratch) {
  Input input;
  for (const std::string& text : request.requirements) {
    if (!is_local_wheel(text)) {
      auto line = requirement_line(text);
      if (!line) return line.error();
      input.lines.push_back(std::move(*line));
      continue;
    }
    const auto name = parse_wheel_name(std::filesystem::path(text).filename().string());
    if (!name) return name.error();
    auto stub = stub_for(request, text, scratch / std::to_string(input.stubs.size()));
    if (!stub) return stub.error();
    // With its project's name, without which it could not override anything.
    input.lines.push_back(name->project + " @ " + file_address(stub->stub.string()));
    input.stubs.push_back(std::move(*stub));
  }
  return input;
}

// Aside, then renamed.
Result<Done> put_in_place(const std::string& text, const std::filesystem::path& file) {
  std::error_code failure;
  std::filesystem::create_directories(file.parent_path(), failure);
  const std::filesystem::path aside = file.string() + fmt::format(".{}", ::getpid());
  if (!failure && !(std::ofstream(aside) << text << std::flush)) failure = std::make_error_code(std::errc::io_error);
  if (!failure) std::filesystem::rename(aside, file, failure);
  if (!failure) return Done{};
  std::error_code ignored;
  std::filesystem::remove(aside, ignored);
  return Error{file.string(), "the lock can't be written here: " + failure.message()};
}

}  // namespace

Result<std::filesystem::path> find_uv() {
  if (const char* named = std::getenv("COMPATRIX_UV"); named != nullptr && *named != '\0') {
    if (::access(named, X_OK) == 0) return std::filesystem::path(named);
    return Error{named, "is no program that can be run, though COMPATRIX_UV names it"};
  }
  const char* path = std::getenv("PATH");
  const std::string folders = path == nullptr ? "" : path;
  for (std::size_t at = 0; at <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', at), folders.size());
    const auto candidate = std::filesystem::path(folders.substr(at, end - at)) / "uv";
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    at = end + 1;
  }
  return Error{"uv", "was not found on PATH; install it (pip install uv) or name it with COMPATRIX_UV"};
}

bool is_local_wheel(const std::string& requirement) {
  return requirement.ends_with(".whl") && requirement.find("://") == std::string::npos;
}

Result<Done> write_lock(const LockRequest& request, const std::filesystem::path& file) {
  const ScratchFolder scratch;
  const Error no_room{std::filesystem::temp_directory_path().string(),
                      "can't be written to, which locking needs; make room or set TMPDIR"};
  if (scratch.path().empty()) return no_room;
  const auto input = input_for(request, scratch.path());
  if (!input) return input.error();
  if (input->stubs.size() == input->lines.size())
    if (const auto lock = lock_of_independent(input->stubs, request.target.python)) return put_in_place(*lock, file);
  const auto uv = find_uv();
  if (!uv) return uv.error();
  if (!write_lines(scratch.path() / "requirements.txt", input->lines) ||
      !write_lines(scratch.path() / "overrides.txt", input->lines))
    return no_room;

  const auto ran = run_program({.arguments = arguments_for(request, *uv, scratch.path()),
                                .environment = index_environment(request.index),
                                .timeout = std::chrono::seconds(300)});
  const std::string subject = joined(request.requirements);
  if (!ran) return ran.error();
  if (ran->timed_out) return Error{subject, "locking took longer than 300 s; is the index reachable?"};
  if (ran->exit_code != 0)
    return Error{subject, "can't be locked: " + one_sentence(with_real_paths(ran->errors, input->stubs))};

  std::string text = read_small_file(scratch.path() / "pylock.toml");
  for (const StubWheel& stub : input->stubs) {
    auto named = name_real_wheel(text, stub);
    if (!named) return named.error();
    text = std::move(*named);
  }
  return put_in_place(text, file);
}

}  // namespace compatrix::wheel
