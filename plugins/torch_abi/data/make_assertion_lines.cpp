// Writes assertion_lines.txt: at which lines the headers of each torch release assert something, read by ranges from
// the release's own wheel on the configured index. For maintainers, when torch has a new release:
//   build/release/plugins/torch_abi/make_assertion_lines 2.4.1 2.5.1 … >plugins/torch_abi/data/assertion_lines.txt
#include <cstdio>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "assertions.h"
#include "framework/wheel/http.h"
#include "framework/wheel/zip.h"
#include "lock_of.h"

namespace {

using namespace compatrix;
using Lines = std::vector<std::uint32_t>;

// Reads an archive in blocks that are kept: its headers lie side by side.
class ReadAhead : public RandomAccess {
 public:
  explicit ReadAhead(RandomAccess& file) : file_(file) {}
  [[nodiscard]] const std::string& name() const override { return file_.name(); }
  [[nodiscard]] std::uint64_t size() const override { return file_.size(); }
  Result<std::vector<std::byte>> read(std::uint64_t offset, std::uint64_t length) override {
    std::vector<std::byte> bytes;
    const auto streamed = stream(offset, length, [&](std::span<const std::byte> piece) {
      bytes.insert(bytes.end(), piece.begin(), piece.end());
      return true;
    });
    if (!streamed) return streamed.error();
    return bytes;
  }
  Result<Done> stream(std::uint64_t offset, std::uint64_t length, const ByteSink& sink) override {
    while (length > 0) {
      const std::uint64_t number = offset / kBlock, within = offset % kBlock;
      auto block = blocks_.find(number);
      if (block == blocks_.end()) {
        auto bytes = file_.read(number * kBlock, std::min(kBlock, size() - number * kBlock));
        if (!bytes) return bytes.error();
        block = blocks_.emplace(number, std::move(*bytes)).first;
      }
      const std::uint64_t piece = std::min<std::uint64_t>(length, block->second.size() - within);
      if (!sink(std::span(block->second).subspan(within, piece))) return Done{};
      offset += piece;
      length -= piece;
    }
    return Done{};
  }

 private:
  static constexpr std::uint64_t kBlock = 1U << 20;
  RandomAccess& file_;
  std::map<std::uint64_t, std::vector<std::byte>> blocks_;
};

bool may_assert(const std::string& name) {
  return name.starts_with("torch/include/") && name.ends_with(".h") && !name.starts_with("torch/include/ATen/ops/") &&
         !name.starts_with("torch/include/google/");
}

Result<std::map<std::string, Lines>> lines_of_release(const std::string& release) {
  const auto lock = torch_abi::lock_of("torch==" + release);
  if (!lock) return lock.error();
  const auto& wheel = lock->wheels.front();
  auto remote = wheel::open_remote_file(wheel.url, wheel.size, {});
  if (!remote) return remote.error();
  ReadAhead archive(**remote);
  const auto directory = wheel::read_zip_directory(archive);
  if (!directory) return directory.error();
  std::map<std::string, Lines> headers;
  for (const wheel::ZipEntry& entry : directory->entries) {
    if (!may_assert(entry.name)) continue;
    const auto text = wheel::read_member(archive, entry, 16U << 20);
    if (!text) return text.error();
    if (Lines lines = torch_abi::assertion_lines(*text); !lines.empty())
      headers[entry.name.substr(std::string("torch/include/").size())] = std::move(lines);
  }
  return headers;
}

}  // namespace

int main(int count, char** arguments) try {
  const std::vector<std::string> releases(arguments + 1, arguments + count);
  if (releases.empty()) {
    fmt::print(stderr, "usage: make_assertion_lines RELEASE... (oldest first)\n");
    return 2;
  }
  std::map<std::string, std::map<Lines, std::string>> table;  // header, its lines, the releases that have them there
  for (const std::string& release : releases) {
    const auto headers = lines_of_release(release);
    if (!headers) {
      fmt::print(stderr, "{}\n", headers.error().text());
      return 3;
    }
    for (const auto& [header, lines] : *headers)
      table[header][lines] += (table[header][lines].empty() ? "" : " ") + release;
    fmt::print(stderr, "torch {}: {} headers\n", release, headers->size());
  }
  fmt::print("# Made by make_assertion_lines from the headers in each release's wheel; do not edit.\nreleases {}\n",
             fmt::join(releases, " "));
  for (const auto& [header, variants] : table) {
    fmt::print("header {}\n", header);
    for (const auto& [lines, of] : variants) fmt::print("{}: {}\n", of, fmt::join(lines, " "));
  }
  return 0;
} catch (const std::exception& failure) {
  static_cast<void>(std::fprintf(stderr, "make_assertion_lines: %s\n", failure.what()));
  return 3;
}
