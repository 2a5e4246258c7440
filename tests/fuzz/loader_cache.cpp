#include "tests/fuzz/target.h"

COMPATRIX_FUZZ_TARGET(support::exercise_loader_cache)
