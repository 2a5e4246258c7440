#include "torch_import.h"

#include <catch2/catch_all.hpp>

using namespace torch_abi;
using Libraries = std::vector<std::pair<std::string, std::string>>;

TEST_CASE("the preload list is read where each generation of torch keeps it", "[torch]") {
  const auto in_calls = parse_preload_list(R"(
def _load_global_deps() -> None:
    try:
        ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
        _preload_cuda_deps("cuda_nvrtc", "libnvrtc.so.*[0-9]")
        _preload_cuda_deps(lib_folder="nvjitlink", lib_name="libnvJitLink.so.*[0-9]")
    except OSError as err:
        _preload_cuda_deps("cublas", "libcublas.so.*[0-9]")

if USE_GLOBAL:
    pass
)");
  CHECK(in_calls.libraries == Libraries{{"cuda_nvrtc", "libnvrtc.so.*[0-9]"}, {"nvjitlink", "libnvJitLink.so.*[0-9]"}});
  CHECK(in_calls.required);
  const auto in_function = parse_preload_list(R"(
def _preload_cuda_deps(err=None, required=True) -> None:
    cuda_libs = [
        ("cublas", "libcublas.so.*[0-9]"),
        ("cudnn", "libcudnn.so.*[0-9]"),
    ]


def _load_global_deps() -> None:
    try:
        ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
        _preload_cuda_deps(required=False)
    except OSError as err:
        _preload_cuda_deps(err)

if USE_GLOBAL:
    pass
)");
  CHECK(in_function.libraries == Libraries{{"cublas", "libcublas.so.*[0-9]"}, {"cudnn", "libcudnn.so.*[0-9]"}});
  CHECK_FALSE(in_function.required);
  CHECK(parse_preload_list("nothing of the kind").libraries.empty());
}

TEST_CASE("a torch's CUDA is in its version.py, if it has any", "[torch]") {
  CHECK(cuda_of("__version__ = '2.11.0+cu130'\ncuda: Optional[str] = '13.0'\nhip = None\n") == "13.0");
  CHECK(cuda_of("cuda = '12.8'\n") == "12.8");
  CHECK(cuda_of("cuda: Optional[str] = None\n").empty());
}
