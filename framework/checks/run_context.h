// One evaluation of one check: what the plugin has said so far, and everything that it was lent, which must stay alive
// until its run function returns. The C structs of services.h are views of what lies here.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compatrix/plugin.h"
#include "compatrix/services.h"
#include "framework/base/version.h"
#include "framework/checks/verdict.h"
#include "framework/environment/cell_files.h"
#include "framework/linker/process.h"

namespace compatrix {

// Brings facts into the store; returns why some could not be had, or nothing.
using FetchWants = std::function<std::optional<std::string>(const std::vector<Want>& wants)>;

// Keeps strings and arrays where they are until the run ends.
class Arena {
 public:
  const char* text(std::string value) { return texts_.emplace_back(std::move(value)).c_str(); }
  const char* text(std::string_view value) { return text(std::string(value)); }
  // An array of C strings.
  template <class Strings>
  std::pair<const char* const*, std::size_t> list(const Strings& strings) {
    std::vector<const char*>& array = arrays_.emplace_back();
    for (const auto& each : strings) array.push_back(text(std::string(each)));
    return {array.data(), array.size()};
  }
  template <class T>
  T* keep(T value) {
    auto kept = std::make_shared<T>(std::move(value));
    T* raw = kept.get();
    objects_.push_back(std::move(kept));
    return raw;
  }

 private:
  std::deque<std::string> texts_;
  std::deque<std::vector<const char*>> arrays_;
  std::vector<std::shared_ptr<void>> objects_;
};

// A release of which a library's facts are kept.
struct KnownRelease {
  Version version;
  std::string text;  // as the wheel's name has it
  std::shared_ptr<const facts::WheelFacts> wheel;
  std::map<std::string, std::shared_ptr<const elf::ElfFile>, std::less<>> libraries;  // that were asked for, by path
};

}  // namespace compatrix

// The host's side of the opaque types of the C ABI.
struct compatrix_run {
  const compatrix_check* check = nullptr;
  std::map<std::string, std::string> parameters;
  compatrix::CheckResult result;
  bool concluded = false;
  std::string failure;  // why facts could not be had; empty: all went well

  compatrix::CellFiles* files = nullptr;
  compatrix::WheelLibrary* wheels = nullptr;
  compatrix::linker::Relatives* relatives = nullptr;
  compatrix::FetchWants fetch;
  std::vector<compatrix::Want> fetched_last;  // asked for twice in a row: fetching does not help

  compatrix::Arena arena;
  std::vector<const compatrix_distribution*> distributions;
  std::map<std::size_t, std::vector<compatrix_file>> files_of;
  std::map<std::size_t, std::vector<compatrix_defect>> defects_of;
  std::optional<std::vector<compatrix_disputed_file>> disputed;
  std::map<std::string, const compatrix_elf_facts*> elf_facts;
  std::deque<compatrix_process> processes;
  std::map<std::pair<std::string, std::string>, std::vector<compatrix::KnownRelease>> releases;  // by project, library

  // Calls `ask` until nothing is wanted any more. False: facts could not be had, `failure` says why.
  template <class Ask>
  bool with_facts(const Ask& ask);
  // Fetches what the files want; false as above.
  bool fetch_wants();
};

struct compatrix_process {
  compatrix_run* run = nullptr;
  std::unique_ptr<compatrix::linker::Process> process;
};

// Asks again after each fetch: what was fetched may name further files.
template <class Ask>
bool compatrix_run::with_facts(const Ask& ask) {
  for (;;) {
    try {
      ask();
      if (!files->has_wants()) return true;
    } catch (const compatrix::linker::FactsWanted&) {
    }
    if (!fetch_wants()) return false;
  }
}
