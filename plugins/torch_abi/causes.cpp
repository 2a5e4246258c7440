#include "causes.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace torch_abi {
namespace {

// Sonames of the CUDA toolkit and of the libraries that follow its majors (NVIDIA, CUDA Toolkit release notes,
// component list), without version.
constexpr std::array<std::string_view, 20> kCudaLibraries{
    "libcudart",   "libnvrtc",      "libnvrtc-builtins", "libcublas",    "libcublasLt", "libcufft",      "libcurand",
    "libcusolver", "libcusolverMg", "libcusparse",       "libnvJitLink", "libcupti",    "libnvToolsExt", "libcufile",
    "libnvjpeg",   "libnppc",       "libnppig",          "libnppicc",    "libnppidei",  "libnvfatbin"};
// glibc and the GCC run-time libraries: part of the platform, not of any environment.
constexpr std::array<std::string_view, 12> kPlatformLibraries{"libc.so.6",
                                                              "libm.so.6",
                                                              "libpthread.so.0",
                                                              "libdl.so.2",
                                                              "librt.so.1",
                                                              "libstdc++.so.6",
                                                              "libgcc_s.so.1",
                                                              "libutil.so.1",
                                                              "libgomp.so.1",
                                                              "ld-linux-x86-64.so.2",
                                                              "ld-linux-aarch64.so.1",
                                                              "libgfortran.so.5"};
constexpr std::array<std::string_view, 3> kDriverLibraries{"libcuda.so.1", "libnvidia-ml.so.1",
                                                           "libnvidia-ptxjitcompiler.so.1"};

template <class Array>
bool has(const Array& array, std::string_view value) {
  return std::find(array.begin(), array.end(), value) != array.end();
}

bool is_driver_function(std::string_view symbol) {  // cuLaunchKernel, nvmlInit_v2
  return symbol.size() > 2 && symbol.starts_with("cu") && std::isupper(static_cast<unsigned char>(symbol[2])) != 0;
}

// A readable signature less its parameters and template arguments: whose function it is, not what it is given.
std::string own_name(std::string_view readable) {
  std::string name;
  int depth = 0;
  for (const char c : readable) {
    if (c == '(' && depth == 0) break;
    if (c == '<') ++depth;
    if (depth == 0) name += c;
    if (c == '>') --depth;
  }
  return name;
}

// Names that only torch's libraries define: its C++ namespaces, and the C shim of its stable ABI.
bool is_torch_symbol(const compatrix_load_problem& problem) {
  const std::string_view symbol = problem.symbol;
  if (symbol.starts_with("aoti_torch_") || symbol.starts_with("torch_")) return true;
  const std::string readable = own_name(problem.demangled);
  for (const std::string_view scope : {"c10::", "at::", "torch::", "caffe2::", "torch_tensorrt::"})
    if (readable.starts_with(scope) || readable.find(" " + std::string(scope)) != std::string_view::npos) return true;
  return false;
}

std::string_view cause_of_library(std::string_view soname) {
  if (has(kDriverLibraries, soname)) return kDriver;
  if (is_cuda_library(soname)) return kCudaRuntime;
  if (is_torch_library(soname)) return kTorchAbi;
  if (soname.starts_with("libpython3.")) return kPythonAbi;
  if (soname.starts_with("libnccl.so")) return kNccl;
  if (has(kPlatformLibraries, soname)) return kPlatform;
  return kMissingLibrary;
}

std::string_view cause_of_symbol(const compatrix_load_problem& problem, bool library_missing) {
  const std::string_view symbol = problem.symbol, expected = problem.expected_in;
  if (symbol.starts_with("Py") || symbol.starts_with("_Py")) return kPythonAbi;
  if (!expected.empty())
    if (const std::string_view cause = cause_of_library(expected); cause != kMissingLibrary) return cause;
  if (is_torch_symbol(problem)) return kTorchAbi;
  if (symbol.starts_with("nccl")) return kNccl;
  if (is_driver_function(symbol)) return kDriver;
  return library_missing || expected.empty() ? kMissingLibrary : kTorchAbi;
}

}  // namespace

std::string library_stem(std::string_view soname) {
  return std::string(soname.substr(0, soname.find(".so")));
}

bool is_cuda_library(std::string_view soname) {
  return has(kCudaLibraries, library_stem(soname));
}

bool is_torch_library(std::string_view soname) {
  const std::string stem = library_stem(soname);
  // libtorchaudio, libtorchcodec_core6 and their like are other projects'.
  return stem == "libtorch" || stem.starts_with("libtorch_") || stem == "libc10" || stem.starts_with("libc10_") ||
         stem == "libshm" || stem.starts_with("libcaffe2");
}

std::string_view cause_of(const compatrix_load_problem& problem, bool library_missing) {
  const std::string_view kind = problem.kind;
  if (kind == "bad-file") return kCorruptWheel;
  if (kind == "isa-level" || kind == "static-tls") return kPlatform;
  if (kind == "undefined-symbol") return cause_of_symbol(problem, library_missing);
  return cause_of_library(problem.library);
}

int repair_order(std::string_view cause) {
  // A library to be added comes last: it is added to a release that fits.
  constexpr std::array<std::string_view, 9> kOrder{
      kCorruptWheel, kPythonAbi, kPlatform, kDriver, kCudaRuntime, kNccl, kTorchAbi, kInitialiser, kMissingLibrary};
  return static_cast<int>(std::find(kOrder.begin(), kOrder.end(), cause) - kOrder.begin());
}

}  // namespace torch_abi
