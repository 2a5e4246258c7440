// From assertion texts to the torch that a file was built with, and from there to the verdict on its layout.
#include <catch2/catch_all.hpp>

#include "layout.h"

using namespace torch_abi;

namespace {

const AssertionTable kTable = AssertionTable::parse(
    "# comment\nreleases 2.8.0 2.9.0 2.9.1 2.10.0\n"
    "header a.h\n2.8.0: 10 20\n2.9.0 2.9.1: 12 20\n2.10.0: 12 30\n"
    "header b.h\n2.8.0 2.9.0 2.9.1 2.10.0: 5\n");

LayoutVerdict verdict(FileTraits traits, std::string_view torch) {
  std::string border;
  return verdict_for(traits, torch, &border);
}

BuildTorch built(std::vector<std::string> releases) {
  return {.releases = std::move(releases), .telling = {}};
}

}  // namespace

TEST_CASE("assertions of a header are found where they begin and where they end", "[layout]") {
  CHECK(assertion_lines("#pragma once\nTORCH_INTERNAL_ASSERT(a == \")\",\n  \"two\",\n  'x');\nAT_ASSERT(b);\n"
                        "// about ASSERT\nint REASSERTED = 1;\n") == std::vector<std::uint32_t>{2, 4, 5});
}

TEST_CASE("the releases that explain most of the telling assertions are the build's", "[layout]") {
  const auto of = [](std::vector<Assertion> assertions) { return build_torch_of(assertions, kTable); };
  CHECK(of({{"a.h", 12}, {"a.h", 20}, {"b.h", 5}}).releases == std::vector<std::string>{"2.9.0", "2.9.1"});
  CHECK(of({{"a.h", 12}, {"a.h", 20}}).text() == "2.9");
  CHECK(of({{"a.h", 12}}).text() == "2.9 to 2.10");
  CHECK(of({{"a.h", 12}, {"other.h", 7}, {"a.h", 99}}).fits("2.10"));
  CHECK_FALSE(of({{"a.h", 10}}).fits("2.10"));
  CHECK_FALSE(of({{"b.h", 5}}).known());  // every release has it
  CHECK_FALSE(of({}).known());
}

TEST_CASE("a release that the table lacks is judged by its own headers", "[layout]") {
  AssertionTable table = kTable;
  table.add_release("2.99.0", {{"a.h", {12, 44}}});
  CHECK(build_torch_of({{"a.h", 44}}, table).releases == std::vector<std::string>{"2.99.0"});
}

TEST_CASE("layout is a matter of the minor that a file was built with", "[layout]") {
  const FileTraits traits{
      .uses_cpp = true, .registers_operators = false, .build = built({"2.9.0", "2.9.1"}), .pinned = {}};
  CHECK(verdict(traits, "2.9.3") == LayoutVerdict::same);
  CHECK(verdict(traits, "2.10.0") == LayoutVerdict::risk);
  FileTraits stable = traits;
  stable.uses_cpp = false;
  CHECK(verdict(stable, "2.10.0") == LayoutVerdict::same);
}

TEST_CASE("operators that are registered across 2.8 | 2.9 kill in static initialisers, in both directions",
          "[layout]") {
  const FileTraits older{
      .uses_cpp = true, .registers_operators = true, .build = built({"2.7.1", "2.8.0"}), .pinned = {}};
  const FileTraits newer{.uses_cpp = true, .registers_operators = true, .build = built({"2.9.1"}), .pinned = {}};
  CHECK(verdict(older, "2.9.1") == LayoutVerdict::initialiser);
  CHECK(verdict(older, "2.12.0") == LayoutVerdict::initialiser);
  CHECK(verdict(older, "2.6.0") == LayoutVerdict::risk);
  CHECK(verdict(newer, "2.8.0") == LayoutVerdict::initialiser);
  CHECK(verdict(newer, "2.10.0") == LayoutVerdict::risk);
  FileTraits without = newer;
  without.registers_operators = false;
  CHECK(verdict(without, "2.8.0") == LayoutVerdict::risk);
  FileTraits both_sides = newer;
  both_sides.build = built({"2.8.0", "2.9.0"});
  CHECK(verdict(both_sides, "2.10.0") == LayoutVerdict::risk);
}

TEST_CASE("where the file says nothing its wheel's pin or differing sizes speak", "[layout]") {
  FileTraits traits{.uses_cpp = true, .registers_operators = false, .build = {}, .pinned = {}};
  CHECK(verdict(traits, "2.10.0") == LayoutVerdict::unknown);
  traits.sizes_differ = true;
  CHECK(verdict(traits, "2.10.0") == LayoutVerdict::risk);
  traits.pinned = "2.10";
  CHECK(verdict(traits, "2.10.0") == LayoutVerdict::same);
  traits.pinned = "2.9";
  CHECK(verdict(traits, "2.10.0") == LayoutVerdict::risk);
}

TEST_CASE("names of torch's C++ interface are told from its stable shim and from others", "[layout]") {
  CHECK(is_torch_cpp_symbol("_ZN3c106SymInt9promoteEv"));
  CHECK(is_torch_cpp_symbol("_ZTVN2at6TensorE"));
  CHECK(is_torch_cpp_symbol("_ZNK5torch8autograd4Node4nameEv"));
  CHECK_FALSE(is_torch_cpp_symbol("aoti_torch_empty_strided"));
  CHECK_FALSE(is_torch_cpp_symbol("_ZNSt6vectorIiE4pushEv"));
  CHECK_FALSE(is_torch_cpp_symbol("_ZN5codec7convertERKN5torch6stable6TensorEi"));
  CHECK(is_torch_cpp_symbol("_ZN5torch7Library4_defERKSt6vectorIN5torch10headeronly3TagESaIS4_EE"));
  CHECK(is_registration_symbol("_ZN5torch7Library4_defEv"));
  CHECK_FALSE(is_registration_symbol("_ZN3c106SymInt9promoteEv"));
}

TEST_CASE("the table that the plugin carries separates the minors that matter", "[layout]") {
  const AssertionTable table = AssertionTable::embedded();
  CHECK(table.has_release("2.9.1"));
  // Measured in real files: torchvision 0.24.1 was built with 2.9, torchaudio 2.8.0 with 2.8.
  CHECK(build_torch_of({{"ATen/core/ivalue.h", 654}, {"ATen/core/ivalue.h", 701}}, table).text() == "2.9");
  const BuildTorch of_2_8 = build_torch_of({{"ATen/core/ivalue.h", 933}, {"c10/core/TensorImpl.h", 1300}}, table);
  CHECK(of_2_8.fits("2.8"));
  CHECK_FALSE(of_2_8.fits("2.9"));
}

TEST_CASE("minors are ordered as numbers", "[layout]") {
  CHECK(older_minor("2.9.1", "2.10"));
  CHECK_FALSE(older_minor("2.10", "2.9"));
  CHECK(minor_of("2.10.0+cu128") == "2.10");
}
