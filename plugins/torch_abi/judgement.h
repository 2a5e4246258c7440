// What all files of a cell's packages come to: each obstacle once, with the files that meet it, and the causes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cell.h"
#include "layout.h"

namespace torch_abi {

// One obstacle, however many files meet it.
struct Obstacle {
  std::string cause;
  std::string kind;
  std::string library, symbol, demangled, version, expected_in, message;
  std::string other_string_abi;  // the missing function itself, compiled with the other std::string
  std::vector<std::string> instead, searched;
  std::vector<std::string> files;      // that meet it
  std::vector<std::string> needed_by;  // objects that name the missing library
};

// How one file fares.
struct FileOutcome {
  std::string path;
  compatrix_load_outcome outcome = COMPATRIX_LOADS;
  std::string message;      // what the loader would say
  std::string first_cause;  // of the first problem
  bool other_python = false;
  FileLayout layout;
};

struct Judgement {
  std::vector<FileOutcome> files;
  std::vector<Obstacle> obstacles;  // in the order in which they were met
  std::vector<std::string> from_system, assumed;

  [[nodiscard]] std::size_t counted() const;
  [[nodiscard]] std::size_t failing() const;
  // Whether some counted file meets it; what only files for another Python meet is listed and speaks against nothing.
  [[nodiscard]] bool counts(const Obstacle& obstacle) const;
  // Counted files that load and have this layout verdict.
  [[nodiscard]] std::size_t with_layout(LayoutVerdict verdict) const;
  // Causes of all obstacles in counted files, the one to repair first in front.
  [[nodiscard]] std::vector<std::string> causes() const;
};

// Opens each file in the process as it stands. Throws FactsUnavailable.
Judgement judge(const Cell& cell, compatrix_process* process, const std::vector<std::string>& files);

// Lays what is known of the files' layout over their outcomes: one that loads, but whose static initialisers are known
// to die, kills the process.
void apply_layout(Judgement& judgement, const std::map<std::string, FileLayout>& layouts, const std::string& torch);

// One load's problems as obstacles of that file.
void add_problems(Judgement& judgement, const compatrix_load& load, const std::string& file);

}  // namespace torch_abi
