#include "declared_torch.h"

#include <catch2/catch_all.hpp>

using torch_abi::declared_torch;

namespace {

std::string metadata(const std::string& lines) {
  return "Metadata-Version: 2.1\nName: kern\nVersion: 1.0\n" + lines;
}

}  // namespace

TEST_CASE("what METADATA says of one torch", "[metadata]") {
  CHECK(declared_torch(metadata(""), "2.10.0").requirement.empty());
  CHECK(declared_torch(metadata("Requires-Dist: torch>=2.3\n"), "2.10.0+cu128").admits);
  CHECK_FALSE(declared_torch(metadata("Requires-Dist: torch==2.14.1\n"), "2.15.0").admits);
  CHECK(declared_torch(metadata("Requires-Dist: torch==2.14.1\n"), "2.14.1+cu130").admits);
  CHECK(declared_torch(metadata("Requires-Dist: torch==2.14.1; extra == 'test'\n"), "2.15.0").requirement.empty());
  CHECK_FALSE(declared_torch(metadata("Requires-Dist: torch>=2.3\nRequires-Dist: torch<2.10\n"), "2.10.0").admits);
}
