#include "causes.h"

#include <catch2/catch_all.hpp>

using namespace torch_abi;

namespace {

std::string library_cause(const char* library) {
  return std::string(cause_of(
      {.kind = "library-not-found", .library = library, .symbol = "", .demangled = "", .expected_in = ""}, true));
}
std::string symbol_cause(const char* symbol, const char* demangled, const char* expected_in,
                         bool library_missing = false) {
  return std::string(cause_of(
      {.kind = "undefined-symbol", .library = "", .symbol = symbol, .demangled = demangled, .expected_in = expected_in},
      library_missing));
}

}  // namespace

TEST_CASE("a missing library's cause follows from what it is part of", "[causes]") {
  CHECK(library_cause("libcudart.so.12") == "cuda-runtime");
  CHECK(library_cause("libnvJitLink.so.12") == "cuda-runtime");
  CHECK(library_cause("libcuda.so.1") == "driver");
  CHECK(library_cause("libnuma.so.1") == "missing-library");
  CHECK(library_cause("libavutil.so.58") == "missing-library");
  CHECK(library_cause("libtorch_cuda_cpp.so") == "torch-abi");
  CHECK(library_cause("libc10.so") == "torch-abi");
  CHECK(library_cause("libtorchcodec_core6.so") == "missing-library");
  CHECK(library_cause("libpython3.10.so.1.0") == "python-abi");
  CHECK(library_cause("libnccl.so.2") == "nccl");
}

TEST_CASE("an undefined symbol's cause follows from who should have it", "[causes]") {
  CHECK(symbol_cause("_ZN3c101fEv", "c10::f()", "libc10.so") == "torch-abi");
  CHECK(symbol_cause("_ZN3c104goneEv", "c10::gone()", "", true) == "torch-abi");
  CHECK(symbol_cause("_ZN5codec4readEiRKN5torch6stable6TensorE", "codec::read(int, torch::stable::Tensor const&)", "",
                     true) == "missing-library");
  CHECK(symbol_cause("_ZN3c104castIN2at6TensorEEEiv", "int c10::cast<at::Tensor>()", "") == "torch-abi");
  CHECK(symbol_cause("aoti_torch_get_dim", "aoti_torch_get_dim", "") == "torch-abi");
  CHECK(symbol_cause("PyType_GetDict", "PyType_GetDict", "") == "python-abi");
  CHECK(symbol_cause("ncclCommResume", "ncclCommResume", "") == "nccl");
  CHECK(symbol_cause("cuGreenCtxCreate", "cuGreenCtxCreate", "") == "driver");
  CHECK(symbol_cause("cublasLtMatmul", "cublasLtMatmul", "libcublasLt.so.12") == "cuda-runtime");
  CHECK(symbol_cause("numa_bind", "numa_bind", "") == "missing-library");
  CHECK(symbol_cause("_ZNSt1aEv", "std::a()", "libstdc++.so.6") == "platform");
}

TEST_CASE("what the processor or the process lacks is the platform's", "[causes]") {
  for (const char* kind : {"isa-level", "static-tls"})
    CHECK(cause_of({.kind = kind, .library = "", .symbol = "", .demangled = "", .expected_in = ""}, false) ==
          "platform");
}

TEST_CASE("corrupt files are repaired before libraries, libraries before symbols", "[causes]") {
  CHECK(repair_order("corrupt-wheel") < repair_order("cuda-runtime"));
  CHECK(repair_order("cuda-runtime") < repair_order("torch-abi"));
}
