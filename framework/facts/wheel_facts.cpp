#include "framework/facts/wheel_facts.h"

#include "framework/facts/encoding.h"
#include "framework/wheel/dist_info.h"

namespace compatrix::facts {
namespace {

constexpr std::uint64_t kMagic = 0x31656877787863;  // "cxxwhe" and the format's number

}  // namespace

void WheelFacts::index() {
  files_.reserve(directory.entries.size());
  for (const wheel::ZipEntry& entry : directory.entries)
    if (auto path = wheel::installed_path(entry.name)) files_.emplace_back(std::move(*path), &entry);
  by_path_.reserve(files_.size());
  std::string_view last;  // archives list the files of a folder together
  for (const auto& [path, entry] : files_) {
    by_path_.emplace(path, entry);
    std::string_view folder = path;
    for (std::size_t slash = folder.rfind('/'); slash != std::string_view::npos && slash != 0;
         slash = folder.rfind('/')) {
      folder = folder.substr(0, slash);
      if (folder == last || !directories_.insert(folder).second) break;
    }
    const std::size_t slash = path.rfind('/');
    last = slash == std::string::npos ? std::string_view{} : std::string_view(path).substr(0, slash);
  }
}

const wheel::ZipEntry* WheelFacts::find(std::string_view installed_path) const {
  const auto found = by_path_.find(installed_path);
  return found == by_path_.end() ? nullptr : found->second;
}

bool WheelFacts::has_directory(std::string_view installed_path) const {
  return directories_.contains(installed_path);
}

std::string encode_wheel(const WheelFacts& facts) {
  Encoder out;
  out.number(kMagic);
  out.bytes(facts.file_name);
  out.bytes(facts.sha256);
  out.number(facts.size);
  out.number(facts.read_whole ? 1 : 0);
  for (const std::string* text : {&facts.metadata, &facts.wheel, &facts.record}) out.bytes(*text);
  out.number(facts.directory.entries.size());
  for (const wheel::ZipEntry& entry : facts.directory.entries) {
    out.bytes(entry.name);
    for (const std::uint64_t value :
         {entry.compressed_size, entry.size, entry.local_header, std::uint64_t{entry.crc32},
          std::uint64_t{entry.method}, std::uint64_t{entry.flags}, std::uint64_t{entry.external_attributes}})
      out.number(value);
  }
  out.number(facts.directory.defects.size());
  for (const wheel::ZipDefect& defect : facts.directory.defects) {
    out.bytes(defect.rule);
    out.number(defect.ambiguous ? 1 : 0);
    out.bytes(defect.entry);
    out.number(defect.offset);
    out.bytes(defect.message);
  }
  return out.take();
}

Result<std::shared_ptr<const WheelFacts>> decode_wheel(const std::string& name, const ByteSource& bytes) try {
  Decoder in(bytes.slice(0, bytes.size()));
  if (in.number() != kMagic) throw FormatError(0, "stored wheel facts were expected");
  auto facts = std::make_shared<WheelFacts>();
  facts->file_name = in.text();
  facts->sha256 = in.text();
  facts->size = in.number();
  facts->read_whole = in.number() != 0;
  for (std::string* text : {&facts->metadata, &facts->wheel, &facts->record}) *text = in.text();
  facts->directory.entries.resize(in.count(64));
  for (wheel::ZipEntry& entry : facts->directory.entries) {
    entry.name = in.text();
    for (std::uint64_t* value : {&entry.compressed_size, &entry.size, &entry.local_header}) *value = in.number();
    entry.crc32 = static_cast<std::uint32_t>(in.number());
    entry.method = static_cast<std::uint16_t>(in.number());
    entry.flags = static_cast<std::uint16_t>(in.number());
    entry.external_attributes = static_cast<std::uint32_t>(in.number());
  }
  facts->directory.defects.resize(in.count(40));
  for (wheel::ZipDefect& defect : facts->directory.defects) {
    defect.rule = in.text();
    defect.ambiguous = in.number() != 0;
    defect.entry = in.text();
    defect.offset = in.number();
    defect.message = in.text();
  }
  facts->index();
  return std::shared_ptr<const WheelFacts>(std::move(facts));
} catch (const FormatError& defect) {
  return Error{name, defect.what()};
}

}  // namespace compatrix::facts
