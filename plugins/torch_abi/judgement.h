// What all files of a cell's packages come to: each obstacle once, with the files that meet it, and the causes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cell.h"
#include "layout.h"
#include "package_data.h"
#include "plugins/owners/owners.h"

namespace torch_abi {

// Where what is missing would come from (origins.h).
struct Origin {
  std::string distribution;                // on the index, that brings the library
  std::string debian;                      // the system package that has it
  std::string library, owner;              // the one that lacks something, and the distribution that it is part of
  std::string release;                     // of that library, that has what is missing
  std::optional<owners::Dispute> dispute;  // about the library's file
};

// One obstacle, however many files meet it.
struct Obstacle {
  std::string cause;
  std::string kind;
  std::string library, symbol, demangled, version, expected_in, message;
  std::string other_string_abi;  // the missing function itself, compiled with the other std::string
  std::vector<std::string> instead, searched;
  std::vector<std::string> files;      // that meet it
  std::vector<std::string> needed_by;  // objects that name the missing library
  Origin origin = {};
};

// How a file fares that is opened by itself, where its package opens others first.
struct Alone {
  compatrix_load_outcome outcome = COMPATRIX_LOADS;
  std::string message;
};

// How one file fares.
struct FileOutcome {
  std::string path;
  compatrix_load_outcome outcome = COMPATRIX_LOADS;
  std::string message;                        // what the loader would say
  std::string first_cause;                    // of the first problem
  std::string uncounted;                      // why it speaks against nothing; empty: it counts
  std::optional<Alone> alone = std::nullopt;  // where its package opens others first
  FileLayout layout;
  std::vector<std::string> from_system, assumed;  // libraries of this machine and assumed ones that its load rests on

  [[nodiscard]] bool counts() const { return uncounted.empty(); }
};

struct Judgement {
  std::vector<FileOutcome> files;
  std::vector<Obstacle> obstacles;          // in the order in which they were met
  std::vector<std::string> of_other_major;  // files that bring a second major of CUDA (origins.h)

  [[nodiscard]] std::size_t counted() const;
  [[nodiscard]] std::size_t failing() const;
  // Whether some counted file meets it; what only uncounted files meet is listed and speaks against nothing.
  [[nodiscard]] bool counts(const Obstacle& obstacle) const;
  // Counted files that load and have this layout verdict.
  [[nodiscard]] std::size_t with_layout(LayoutVerdict verdict) const;
  // Causes of all obstacles in counted files, the one to repair first in front.
  [[nodiscard]] std::vector<std::string> causes() const;
  // Symbols of torch that counted files miss.
  [[nodiscard]] std::size_t undefined_symbols() const;
  // Libraries that counted files miss for this cause.
  [[nodiscard]] std::vector<std::string> missing_libraries(std::string_view cause) const;
  // The torch that the files were built with, as far as all of them agree; empty where they don't or nothing tells.
  [[nodiscard]] std::string built_with() const;
  // Counted files that would die in static initialisers.
  [[nodiscard]] std::size_t dying() const;
};

// The files of one distribution of the cell, and what is known of the way in which it opens them.
struct Package {
  std::size_t distribution = 0;
  std::vector<std::string> files;
  const PackageData* data = nullptr;  // null: nothing
};

// Opens each file in the process as it stands, and files that their package opens in an order also in that order.
// Throws FactsUnavailable.
Judgement judge(const Cell& cell, compatrix_process* process, const std::vector<Package>& packages);

// Lays what is known of the files' layout over their outcomes: one that loads, but whose static initialisers are known
// to die, kills the process.
void apply_layout(Judgement& judgement, const std::map<std::string, FileLayout>& layouts, const std::string& torch);

// One load's problems as obstacles of that file. `before` are files that its package opens before it and that failed:
// that they are missing now is no obstacle of its own.
void add_problems(Judgement& judgement, const compatrix_load& load, const std::string& file,
                  const std::vector<std::string>& before = {});

}  // namespace torch_abi
