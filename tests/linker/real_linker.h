// A case of the dynamic linker, opened by the real one and by ours.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <catch2/catch_all.hpp>

#include "framework/base/subprocess.h"
#include "framework/linker/process.h"
#include "tests/support/scratch_folder.h"

namespace support {

inline const std::string kFixtures = FIXTURES;
inline const std::string kProbe = kFixtures + "/dlopen_probe";

// What dlopen says in a fresh process of the probe.
inline std::string real_outcome(const std::vector<std::string>& files) {
  compatrix::ProgramRun run{.arguments = {kProbe}, .environment = {{"LD_LIBRARY_PATH", ""}}};
  run.arguments.insert(run.arguments.end(), files.begin(), files.end());
  const auto outcome = compatrix::run_program(run);
  REQUIRE(outcome);
  return outcome->output.substr(0, outcome->output.find('\n'));
}

// Ours: the probe is the interpreter of an environment that lies on disk.
struct Simulated {
  ScratchFolder folder;
  compatrix::WheelLibrary wheels{compatrix::facts::FactStore(folder.path())};
  compatrix::linker::Relatives relatives;
  compatrix::CellFiles files{
      compatrix::Environment{
          .interpreter = std::filesystem::canonical(kProbe), .site_packages = "/nowhere", .installed = true},
      wheels};
  compatrix::linker::Process process{files, relatives};
};

// The outcome in the real linker's words; a process that dies says no more than that.
inline std::string word(const compatrix::linker::LoadReport& report) {
  if (report.outcome == compatrix::linker::Outcome::loads) return "loads";
  return report.outcome == compatrix::linker::Outcome::kills ? "crash" : report.message;
}

inline std::string root_of(const std::string& name) {
  return kFixtures + "/cases/" + name + "/root.so";
}

}  // namespace support
