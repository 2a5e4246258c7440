#include "tests/fuzz/target.h"
#include "tests/support/scratch_folder.h"

namespace {

std::string simulate(const std::string& bytes) {
  static const support::ScratchFolder folder;
  static support::HostileLoads loads(folder.path().string());
  return loads.open(bytes);
}

}  // namespace

COMPATRIX_FUZZ_TARGET(simulate)
