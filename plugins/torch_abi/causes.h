// From an obstacle to its cause, by what is missing and who should have had it.
#pragma once

#include <string>
#include <string_view>

#include "cell.h"

namespace torch_abi {

inline constexpr std::string_view kTorchAbi = "torch-abi", kCudaRuntime = "cuda-runtime",
                                  kMissingLibrary = "missing-library", kPlatform = "platform",
                                  kPythonAbi = "python-abi", kDriver = "driver", kNccl = "nccl",
                                  kCorruptWheel = "corrupt-wheel", kLayoutRisk = "layout-risk",
                                  kInitialiser = "initialiser";

// The name of a shared library without version: "libcudart" of libcudart.so.12.
std::string library_stem(std::string_view soname);

// A library of the CUDA toolkit, whose majors are not exchangeable.
bool is_cuda_library(std::string_view soname);

// A library that torch itself brings.
bool is_torch_library(std::string_view soname);

// The cause of one problem; `library_missing`: some library that the file needs was not found, so that a symbol nobody
// has may have been meant to come from it.
std::string_view cause_of(const compatrix_load_problem& problem, bool library_missing);

// Position in the order in which a person should repair causes (corrupt files before everything, symbols last).
int repair_order(std::string_view cause);

}  // namespace torch_abi
