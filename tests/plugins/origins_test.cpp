#include "origins.h"

#include <catch2/catch_all.hpp>

using namespace torch_abi;

TEST_CASE("a library that no cell has is told apart by where it comes from", "[origins]") {
  CHECK(distribution_with("libcudart.so.12") == "nvidia-cuda-runtime-cu12");
  CHECK(distribution_with("libcudart.so.13") == "nvidia-cuda-runtime");
  CHECK(distribution_with("libnuma.so.1").empty());
  CHECK(distribution_with("").empty());
  CHECK(debian_package_with("libnuma.so.1") == "libnuma1");
  CHECK(debian_package_with("libnuma.so").empty());
  CHECK(debian_package_with("libcuda.so.1").empty());
}

TEST_CASE("the release of NCCL that has a function", "[origins]") {
  // As read from the libraries of those releases.
  CHECK(nccl_release_with("ncclCommResume") == "2.29.7");
  CHECK(nccl_release_with("ncclCommWindowRegister") == "2.27.3");
  CHECK(nccl_release_with("ncclMadeUp").empty());
  CHECK(nccl_release_with("cudaMalloc").empty());
}

TEST_CASE("names that carry the minor release which added them", "[origins]") {
  CHECK(minor_release_in("__nvJitLinkComplete_12_4") == "12.4");
  CHECK(minor_release_in("__nvJitLinkAddData_13_0") == "13.0");
  CHECK(minor_release_in("libnvJitLink.so.12").empty());
  CHECK(minor_release_in("GLIBC_2.38").empty());
  CHECK(minor_release_in("cuda_12_4").empty());
  CHECK(minor_release_in("__x_4").empty());
  CHECK(minor_release_in("").empty());
}

TEST_CASE("the major of CUDA that a library belongs to", "[origins]") {
  CHECK(cuda_major_of("libcudart.so.12") == "12");
  CHECK(cuda_major_of("libcudart.so.11.0") == "11");
  CHECK(cuda_major_of("libcublasLt.so.13") == "13");
  CHECK(cuda_major_of("libcufft.so.11").empty());  // which is CUDA 12's
  CHECK(cuda_major_of("libcudart.so").empty());
}
