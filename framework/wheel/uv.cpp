// Locking with uv: the request as its input files, its complaints as one sentence.
#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <unistd.h>

#include <fmt/format.h>

#include "framework/base/subprocess.h"
#include "framework/base/text.h"
#include "framework/wheel/index_configuration.h"
#include "framework/wheel/lock.h"

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
std::string one_sentence(const std::string& errors) {
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
  for (const std::string_view prefix : {"x ", "error: "})
    if (sentence.starts_with(prefix)) sentence.erase(0, prefix.size());
  constexpr std::size_t kLongest = 600;
  if (sentence.size() > kLongest) sentence = sentence.substr(0, kLongest) + " ...";
  return visible_utf8(sentence);
}

std::vector<std::string> arguments_for(const LockRequest& request, const std::filesystem::path& uv,
                                       const std::filesystem::path& folder) {
  std::vector<std::string> arguments{
      uv.string(),
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
      fmt::format("{}-manylinux_{}", request.target.machine,
                  request.target.glibc.substr(0, 1) + "_" + request.target.glibc.substr(2)),
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

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + text;
  return all;
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

Result<Done> write_lock(const LockRequest& request, const std::filesystem::path& file) {
  const auto uv = find_uv();
  if (!uv) return uv.error();
  const ScratchFolder scratch;
  std::vector<std::string> requirements, overrides;
  for (const std::string& text : request.requirements) {
    requirements.push_back(text);
    if (!text.ends_with(".whl")) overrides.push_back(text);
  }
  if (scratch.path().empty() || !write_lines(scratch.path() / "requirements.txt", requirements) ||
      !write_lines(scratch.path() / "overrides.txt", overrides))
    return Error{std::filesystem::temp_directory_path().string(),
                 "can't be written to, which locking needs; make room or set TMPDIR"};

  const auto ran = run_program({.arguments = arguments_for(request, *uv, scratch.path()),
                                .environment = index_environment(request.index),
                                .timeout = std::chrono::seconds(300)});
  const std::string subject = joined(request.requirements);
  if (!ran) return ran.error();
  if (ran->timed_out) return Error{subject, "locking took longer than 300 s; is the index reachable?"};
  if (ran->exit_code != 0) return Error{subject, "can't be locked: " + one_sentence(ran->errors)};

  std::error_code failure;
  std::filesystem::create_directories(file.parent_path(), failure);
  const std::filesystem::path aside = file.string() + fmt::format(".{}", ::getpid());
  if (!failure)
    std::filesystem::copy_file(scratch.path() / "pylock.toml", aside, std::filesystem::copy_options::overwrite_existing,
                               failure);
  if (!failure) std::filesystem::rename(aside, file, failure);
  if (failure) return Error{file.string(), "the lock can't be written here: " + failure.message()};
  return Done{};
}

}  // namespace compatrix::wheel
