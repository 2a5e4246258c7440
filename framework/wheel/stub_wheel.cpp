#include "framework/wheel/stub_wheel.h"

#include <fstream>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "framework/base/version.h"
#include "framework/bytes/digest.h"
#include "framework/bytes/random_access.h"
#include "framework/wheel/zip.h"
#include "framework/wheel/zip_format.h"

namespace compatrix::wheel {
namespace {

constexpr std::uint64_t kLongestText = 64U << 20;

using Member = std::pair<std::string, std::string>;  // name and content

void put(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
}

// What local and central headers have in common, from the flags to the length of the extra field.
void put_common(std::string& out, const Member& member) {
  constexpr std::uint64_t kUtf8Name = 0x0800, kFirstOfJanuary1980 = 0x00210000;
  put(out, kUtf8Name, 2);
  put(out, zip::kStored, 2);
  put(out, kFirstOfJanuary1980, 4);
  put(out, crc32(0, std::as_bytes(std::span(member.second))), 4);
  put(out, member.second.size(), 4);
  put(out, member.second.size(), 4);
  put(out, member.first.size(), 2);
  put(out, 0, 2);
}

std::string archive_of(const std::vector<Member>& members) {
  constexpr std::uint64_t kVersion = 20;
  std::string out, central;
  for (const Member& member : members) {
    put(central, zip::kCentralHeader, 4);
    put(central, kVersion, 2);
    put(central, kVersion, 2);
    put_common(central, member);
    central.append(2 + 2 + 2 + 4, '\0');  // comment, disk, attributes
    put(central, out.size(), 4);
    central += member.first;
    put(out, zip::kLocalHeader, 4);
    put(out, kVersion, 2);
    put_common(out, member);
    out += member.first + member.second;
  }
  const std::size_t directory = out.size();
  out += central;
  put(out, zip::kEndOfDirectory, 4);
  put(out, 0, 4);
  put(out, members.size(), 2);
  put(out, members.size(), 2);
  put(out, central.size(), 4);
  put(out, directory, 4);
  put(out, 0, 2);
  return out;
}

// A TOML basic string.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += std::string("\\") + c;
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + '"';
}

// How a pylock.toml (PEP 751) names the real wheel.
std::string archive_line(const StubWheel& stub) {
  return fmt::format("archive = {{ path = {}, hashes = {{ sha256 = {} }} }}", quoted(stub.wheel.string()),
                     quoted(stub.sha256));
}

}  // namespace

Result<StubWheel> write_stub_wheel(const std::filesystem::path& wheel, const std::string& sha256,
                                   const std::filesystem::path& folder) {
  const auto archive = open_local_file(wheel);
  if (!archive) return archive.error();
  const auto directory = read_zip_directory(**archive);
  if (!directory) return directory.error();
  const std::string info = dist_info_folder(*directory);
  std::vector<Member> members;
  std::string record;
  std::optional<Metadata> metadata;
  for (const ZipEntry& entry : directory->entries) {
    if (info.empty() || (entry.name != info + "METADATA" && entry.name != info + "WHEEL")) continue;
    auto content = read_member(**archive, entry, kLongestText);
    if (!content) return content.error();
    record += entry.name + ",,\n";
    if (entry.name == info + "METADATA")
      if (auto parsed = parse_metadata(*content)) metadata = std::move(*parsed);
    members.emplace_back(entry.name, std::move(*content));
  }
  members.emplace_back(info + "RECORD", record + info + "RECORD,,\n");
  const std::string content = archive_of(members);
  StubWheel stub{.wheel = wheel,
                 .sha256 = sha256,
                 .stub = folder / wheel.filename(),
                 .stub_sha256 = {},
                 .metadata = std::move(metadata)};
  Sha256 digest;
  digest.update(std::as_bytes(std::span(content)));
  stub.stub_sha256 = digest.hex();
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  std::ofstream out(stub.stub, std::ios::binary);
  if (!out.write(content.data(), static_cast<std::streamsize>(content.size())).flush())
    return Error{stub.stub.string(), "can't be written, which locking needs; make room or set TMPDIR"};
  return stub;
}

Result<std::string> name_real_wheel(const std::string& lock, const StubWheel& stub) {
  // uv writes the wheel of a package as one line; the digest tells it from all others.
  const std::size_t at = lock.find('"' + stub.stub_sha256 + '"');
  if (at == std::string::npos)
    return Error{stub.wheel.string(), "uv's lock does not name this wheel; is another version of uv in use?"};
  const std::size_t begin = lock.rfind('\n', at) + 1, end = std::min(lock.find('\n', at), lock.size());
  return lock.substr(0, begin) + archive_line(stub) + lock.substr(end);
}

std::optional<std::string> lock_of_independent(const std::vector<StubWheel>& stubs, const std::string& python) {
  std::string lock = "lock-version = \"1.0\"\ncreated-by = \"compatrix\"\n";
  const auto version = Version::parse(python);
  std::set<std::string> projects;
  for (const StubWheel& stub : stubs) {
    const auto name = parse_wheel_name(stub.wheel.filename().string());
    if (!name || !version || !stub.metadata || !stub.metadata->requires_dist.empty()) return std::nullopt;
    const std::string project = normalise_project(name->project);
    if (normalise_project(stub.metadata->name) != project || !projects.insert(project).second) return std::nullopt;
    const auto pythons = SpecifierSet::parse(stub.metadata->requires_python);
    if (!pythons || !pythons->contains(*version)) return std::nullopt;
    lock += fmt::format("\n[[packages]]\nname = {}\nversion = {}\n{}\n", quoted(project), quoted(name->version),
                        archive_line(stub));
  }
  return lock;
}

}  // namespace compatrix::wheel
