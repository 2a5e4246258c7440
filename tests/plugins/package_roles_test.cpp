#include "package_roles.h"

#include <algorithm>

#include <catch2/catch_all.hpp>

using namespace torch_abi;

namespace {

// A judgement in which the named files fail, each for want of one library and the given cause.
struct Failing {
  std::string file, cause;
};
Judgement judged(const std::vector<std::string>& files, const std::vector<Failing>& failing) {
  Judgement judgement;
  for (const std::string& file : files)
    judgement.files.push_back({.path = file, .message = "", .first_cause = "", .uncounted = ""});
  for (const Failing& fault : failing) {
    for (FileOutcome& file : judgement.files)
      if (file.path == fault.file) file.outcome = COMPATRIX_LOAD_FAILS;
    judgement.obstacles.push_back(
        {.cause = fault.cause, .kind = "undefined-symbol", .symbol = fault.cause + fault.file, .files = {fault.file}});
  }
  return judgement;
}

const FileOutcome& outcome(const Judgement& judgement, const std::string& path) {
  return *std::find_if(judgement.files.begin(), judgement.files.end(), [&](const auto& f) { return f.path == path; });
}

const std::vector<PackageData> kData = parse_package_data(R"([
  {"package": "codec", "source": "its own code",
   "alternatives": {"of": "decoder", "members": ["9", "8", "7"], "files": ["codec/core{}.so", "codec/ops{}.so"]}},
  {"package": "quant", "source": "its own code", "by_cuda": "quant/lib_cuda{}.so", "without_cuda": "quant/lib_cpu.so",
   "on_demand": ["quant/lib_rocm*.so"]}])");

Package package(const std::string& name, std::vector<std::string> files) {
  return {.distribution = 0, .files = std::move(files), .data = find_package(kData, name)};
}

}  // namespace

TEST_CASE("of alternatives the first that loads counts", "[package]") {
  const std::vector<std::string> files{"codec/core8.so", "codec/core7.so", "codec/ops8.so", "codec/ops7.so",
                                       "codec/image.so"};
  Judgement judgement = judged(files, {{"codec/ops8.so", "missing-library"}});
  const auto taken = apply_package_data(judgement, package("codec", files), "12.8");
  REQUIRE(taken.size() == 1);
  CHECK(taken[0].taken == "7");
  CHECK(taken[0].loads);
  CHECK(taken[0].members == std::vector<std::string>{"8", "7"});
  CHECK(judgement.failing() == 0);
  CHECK(judgement.counted() == 3);
  CHECK(outcome(judgement, "codec/core8.so").uncounted == "one decoder is enough, and 7 is taken");
}

TEST_CASE("where no alternative loads, the one with the fewest causes counts", "[package]") {
  const std::vector<std::string> files{"codec/core8.so", "codec/core7.so"};
  Judgement judgement = judged(
      files,
      {{"codec/core8.so", "torch-abi"}, {"codec/core8.so", "missing-library"}, {"codec/core7.so", "missing-library"}});
  const auto taken = apply_package_data(judgement, package("codec", files), "12.8");
  CHECK(taken[0].taken == "7");
  CHECK_FALSE(taken[0].loads);
  CHECK(judgement.causes() == std::vector<std::string>{"missing-library"});
}

TEST_CASE("a package without data needs all of its files", "[package]") {
  const std::vector<std::string> files{"codec/core8.so", "codec/core7.so"};
  Judgement judgement = judged(files, {{"codec/core8.so", "missing-library"}});
  CHECK(apply_package_data(judgement, package("unknown", files), "12.8").empty());
  CHECK(judgement.failing() == 1);
  CHECK(judgement.counted() == 2);
}

TEST_CASE("a library for each CUDA: torch's own version, else the nearest of its major", "[package]") {
  const std::vector<std::string> files{"q/l124.so", "q/l128.so", "q/l130.so", "q/l_other.so"};
  CHECK(chosen_for_cuda(files, "q/l{}.so", "12.8") == "q/l128.so");
  CHECK(chosen_for_cuda(files, "q/l{}.so", "12.9") == "q/l128.so");
  CHECK(chosen_for_cuda(files, "q/l{}.so", "12.6") == "q/l124.so");
  CHECK(chosen_for_cuda(files, "q/l{}.so", "12.1") == "q/l124.so");
  CHECK(chosen_for_cuda(files, "q/l{}.so", "13.2") == "q/l130.so");
  CHECK_FALSE(chosen_for_cuda(files, "q/l{}.so", "11.8"));
}

TEST_CASE("only the library for torch's CUDA counts, and its absence is the CUDA runtime's fault", "[package]") {
  const std::vector<std::string> files{"quant/lib_cuda128.so", "quant/lib_cuda130.so", "quant/lib_cpu.so",
                                       "quant/lib_rocm64.so"};
  const std::vector<Failing> failing{{"quant/lib_cuda128.so", "cuda-runtime"},
                                     {"quant/lib_rocm64.so", "missing-library"}};
  Judgement newer = judged(files, failing);
  apply_package_data(newer, package("quant", files), "13.0");
  CHECK(newer.failing() == 0);
  CHECK(newer.counted() == 1);
  CHECK(outcome(newer, "quant/lib_cuda128.so").uncounted == "lib_cuda130.so is opened beside CUDA 13.0");

  Judgement older = judged(files, failing);
  apply_package_data(older, package("quant", files), "12.8");
  CHECK(older.causes() == std::vector<std::string>{"cuda-runtime"});

  Judgement neither = judged(files, failing);
  apply_package_data(neither, package("quant", files), "14.0");
  CHECK(neither.failing() == 1);
  CHECK(neither.causes() == std::vector<std::string>{"cuda-runtime"});

  Judgement without = judged(files, failing);
  apply_package_data(without, package("quant", files), "");
  CHECK(without.failing() == 0);
  CHECK(outcome(without, "quant/lib_cpu.so").counts());
}

TEST_CASE("a package with modules for another Python only fails, although dlopen would take its files", "[package]") {
  const std::vector<std::string> files{"a/_C.cpython-310-x86_64-linux-gnu.so", "a/libhelp.so"};
  Judgement judgement = judged(files, {});
  judgement.files[0].uncounted = "named for CPython 3.10";
  apply_interpreter(judgement, {.distribution = 0, .files = files}, {.python = "3.11", .machine = "x86_64"}, "a 1.0");
  CHECK(judgement.causes() == std::vector<std::string>{"python-abi"});
  CHECK(judgement.failing() == 1);
  CHECK(judgement.files[0].alone->outcome == COMPATRIX_LOADS);
  CHECK(judgement.obstacles.front().message == "a 1.0 has modules for CPython 3.10 and none for CPython 3.11");
}

TEST_CASE("every entry of the package data names its source", "[package]") {
  CHECK(known_packages().size() >= 3);
  for (const PackageData& data : known_packages()) CHECK_FALSE(data.source.empty());
  CHECK_THROWS(parse_package_data(R"([{"package": "a", "source": ""}])"));
  CHECK_THROWS(parse_package_data(R"([{"package": "a"}])"));
}
