#include "tests/support/wheel_writer.h"

#include <span>
#include <stdexcept>

#include <fmt/format.h>
#include <isa-l/igzip_lib.h>

#include "framework/bytes/digest.h"

namespace support {
namespace {

void put16(std::string& out, std::uint64_t value) {
  out += static_cast<char>(value & 0xff);
  out += static_cast<char>(value >> 8 & 0xff);
}
void put32(std::string& out, std::uint64_t value) {
  put16(out, value & 0xffff);
  put16(out, value >> 16 & 0xffff);
}

std::uint32_t crc_of(const std::string& content) {
  return compatrix::crc32(0, std::as_bytes(std::span(content)));
}

// A raw DEFLATE stream.
std::string deflated(const std::string& content) {
  std::string out(content.size() + content.size() / 2 + 512, '\0');
  isal_zstream stream{};
  isal_deflate_stateless_init(&stream);
  stream.end_of_stream = 1;
  stream.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<std::uint32_t>(content.size());
  stream.next_out = reinterpret_cast<std::uint8_t*>(out.data());
  stream.avail_out = static_cast<std::uint32_t>(out.size());
  if (isal_deflate_stateless(&stream) != COMP_OK) throw std::runtime_error("the test's data could not be deflated");
  out.resize(out.size() - stream.avail_out);
  return out;
}

void put_common(std::string& out, const ArchiveEntry& entry, std::uint64_t compressed, std::int64_t change) {
  put16(out, entry.flags);
  put16(out, entry.claimed_method != 0 ? entry.claimed_method : entry.deflated ? 8 : 0);
  put32(out, 0x00210000);
  put32(out, crc_of(entry.content) + entry.crc_change);
  put32(out, compressed + static_cast<std::uint64_t>(change));
  put32(out, entry.content.size() + static_cast<std::uint64_t>(change));
}

}  // namespace

std::string write_archive(const std::vector<ArchiveEntry>& entries, const std::string& comment) {
  std::string out, central;
  for (const ArchiveEntry& entry : entries) {
    const std::size_t at = out.size();
    const std::string& local_name = entry.local_name.empty() ? entry.name : entry.local_name;
    const std::string data = entry.deflated ? deflated(entry.content) : entry.content;
    put32(out, 0x04034b50);
    put16(out, 20);
    put_common(out, entry, data.size(), 0);
    put16(out, local_name.size());
    put16(out, entry.local_extra.size());
    out += local_name + entry.local_extra + data + entry.behind;
    put32(central, 0x02014b50);
    put16(central, 20);
    put16(central, 20);
    put_common(central, entry, data.size(), entry.size_change);
    put16(central, entry.name.size());
    put16(central, entry.central_extra.size());
    put16(central, 0);
    put16(central, 0);
    put16(central, 0);
    put32(central, entry.external_attributes);
    put32(central, at);
    central += entry.name + entry.central_extra;
  }
  const std::size_t directory = out.size();
  out += central;
  put32(out, 0x06054b50);
  put32(out, 0);
  put16(out, entries.size());
  put16(out, entries.size());
  put32(out, central.size());
  put32(out, directory);
  put16(out, comment.size());
  return out + comment;
}

std::vector<ArchiveEntry> wheel_entries(const std::string& name, const std::string& version, const std::string& tag,
                                        std::vector<ArchiveEntry> files, const std::string& metadata_lines) {
  const std::string folder = fmt::format("{}-{}.dist-info/", name, version);
  files.push_back(
      {.name = folder + "METADATA",
       .content = fmt::format("Metadata-Version: 2.1\nName: {}\nVersion: {}\n{}", name, version, metadata_lines)});
  files.push_back(
      {.name = folder + "WHEEL",
       .content = fmt::format("Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: false\nTag: {}\n", tag)});
  std::string record;
  for (const ArchiveEntry& file : files) {
    compatrix::Sha256 digest;
    digest.update(std::as_bytes(std::span(file.content)));
    record += fmt::format("{},sha256={},{}\n", file.name, digest.base64url(), file.content.size());
  }
  files.push_back({.name = folder + "RECORD", .content = record + folder + "RECORD,,\n"});
  return files;
}

std::string write_wheel(const std::string& name, const std::string& version, const std::string& tag,
                        const std::vector<ArchiveEntry>& files, const std::string& metadata_lines) {
  return write_archive(wheel_entries(name, version, tag, files, metadata_lines));
}

}  // namespace support
