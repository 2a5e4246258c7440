// The entry point that libFuzzer calls, for a reader of foreign bytes: one line makes a target of a function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/support/exercise.h"

// What the function throws is a finding as much as a sanitizer's report.
#define COMPATRIX_FUZZ_TARGET(reader)                                                  \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {  \
    static_cast<void>(reader(std::string(reinterpret_cast<const char*>(data), size))); \
    return 0;                                                                          \
  }
