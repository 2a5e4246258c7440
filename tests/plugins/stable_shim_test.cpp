#include "stable_shim.h"

#include <catch2/catch_all.hpp>

using namespace torch_abi;
using Names = std::vector<std::string>;

namespace {

const SymbolSpans kTable = SymbolSpans::parse(
    "# comment\nreleases 2.8.0 2.9.0 2.10.0\n"
    "aoti_torch_empty 2.8.0\naoti_torch_guard 2.9.0\naoti_torch_old 2.8.0 2.9.0\ntorch_from_blob 2.10.0\n");

}  // namespace

TEST_CASE("the newest function of the shim says from which release on a file loads", "[shim]") {
  CHECK(kTable.releases_with({"aoti_torch_empty", "aoti_torch_guard"}) == Names{"2.9.0", "2.10.0"});
  CHECK(kTable.newest_of({"aoti_torch_empty", "torch_from_blob", "aoti_torch_guard"}) == "torch_from_blob");
  CHECK(kTable.releases_with({"aoti_torch_empty", "aoti_torch_old"}) == Names{"2.8.0", "2.9.0"});
  CHECK(kTable.releases_with({"torch_from_blob", "aoti_torch_old"}).empty());
  CHECK(kTable.releases_with({"aoti_torch_empty", "aoti_torch_of_tomorrow"}).empty());
}

TEST_CASE("one part of torch's C++ or of its Python binding, and a file is not of the stable shim alone", "[shim]") {
  CHECK(shim_functions_only({"malloc", "aoti_torch_empty", "cudaMalloc"}) == Names{"aoti_torch_empty"});
  CHECK(shim_functions_only({"aoti_torch_empty", "_ZN3c106SymInt9promoteEv"}).empty());
  CHECK(shim_functions_only({"aoti_torch_empty", "THPVariableClass"}).empty());
  CHECK(shim_functions_only({"malloc"}).empty());
}

TEST_CASE("the span of releases in words", "[shim]") {
  ShimUse use{.releases = {"2.9.0", "2.10.0"}, .open_ended = true};
  CHECK(use.text() == "torch 2.9.0 or later");
  use.open_ended = false;
  CHECK(use.text() == "torch 2.9.0 to 2.10.0");
}

TEST_CASE("the table that the plugin carries has the shim's dates", "[shim]") {
  // Read in real wheels: torch_from_blob came with 2.11, aoti_torch_abi_version with 2.7.
  const SymbolSpans table = shim_table();
  CHECK(table.releases_with({"torch_from_blob"}).front() == "2.11.0");
  CHECK(table.releases_with({"aoti_torch_abi_version"}).front() == "2.7.0");
}
