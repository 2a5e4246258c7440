#include "string_abi.h"

#include "causes.h"
#include "finding.h"

namespace torch_abi {

StringAbi string_abi_of(const Judgement& judgement) {
  StringAbi abi;
  std::size_t with_new = 0;
  for (const Obstacle& obstacle : judgement.obstacles) {
    if (obstacle.kind != "undefined-symbol" || obstacle.cause != kTorchAbi || !judgement.counts(obstacle)) continue;
    ++abi.missing;
    if (obstacle.other_string_abi.empty()) continue;
    abi.other.push_back(&obstacle);
    // Both spellings of the new one name it: [abi:cxx11] after a function, std::__cxx11 before a type.
    with_new += obstacle.other_string_abi.find("cxx11") != std::string::npos ? 1 : 0;
  }
  abi.torch_has_new = 2 * with_new > abi.other.size();
  return abi;
}

void report_string_abi(const Cell& cell, const Judgement& judgement) {
  const StringAbi abi = string_abi_of(judgement);
  if (abi.other.empty()) return;
  Fields fields{{"files_have", abi.of_files()}, {"torch_has", abi.of_torch()}};
  std::vector<std::string> files;
  for (const Obstacle* obstacle : abi.other) {
    fields.emplace_back("symbols", obstacle->symbol);
    for (const std::string& file : obstacle->files) add_once(files, file);
  }
  add(fields, "files", files);
  const std::string all = std::to_string(abi.missing), some = std::to_string(abi.other.size());
  report_finding(cell, std::string(kTorchAbi), "string-abi", files.front(),
                 some + " of " + all + " missing functions of torch " + (abi.other.size() == 1 ? "is" : "are") +
                     " there with the " + abi.of_torch() + " std::string of libstdc++, which this torch was compiled " +
                     "with; the files were compiled with the " + abi.of_files() +
                     " one (_GLIBCXX_USE_CXX11_ABI=" + (abi.torch_has_new ? "0" : "1") + ")",
                 fields);
}

}  // namespace torch_abi
