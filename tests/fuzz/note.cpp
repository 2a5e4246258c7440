#include "tests/fuzz/target.h"
#include "tests/support/scratch_folder.h"

namespace {

support::Steps exercise(const std::string& bytes) {
  static const support::ScratchFolder folder;
  return support::exercise_note(bytes, folder.path().string());
}

}  // namespace

COMPATRIX_FUZZ_TARGET(exercise)
