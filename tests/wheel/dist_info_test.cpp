#include "framework/wheel/dist_info.h"

#include <catch2/catch_all.hpp>

#include "framework/wheel/marker.h"

using namespace compatrix::wheel;

TEST_CASE("a wheel's name is taken apart, compressed tags expanded", "[dist_info]") {
  const auto name =
      parse_wheel_name("cuda_bindings-12.9.4-1-cp311.cp312-abi3-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl");
  REQUIRE(name);
  CHECK(name->project == "cuda_bindings");
  CHECK(name->build == "1");
  CHECK(name->tags.size() == 4);
  for (const char* wrong : {"a-1.whl", "a-1-b-c-d.zip", "a--b-c-d.whl", "a-1-b-c-d-e-f.whl"})
    CHECK_FALSE(parse_wheel_name(wrong));
  CHECK(normalise_project("Cuda_.Bindings") == "cuda-bindings");
}

TEST_CASE("shared objects are known by their names", "[dist_info]") {
  for (const char* name : {"lib/liba.so", "liba.so.1", "lib/mscclpp.so.0.6.0", "_C.cpython-311-x86_64-linux-gnu.so"})
    CHECK(is_shared_object_name(name));
  for (const char* name : {"a.sock", ".so", "a.so.py", "liba.so/readme", "a.soft"})
    CHECK_FALSE(is_shared_object_name(name));
}

TEST_CASE("platform tags promise a glibc", "[dist_info]") {
  CHECK(promised_glibc("manylinux2014_x86_64") == "2.17");
  CHECK(promised_glibc("manylinux_2_28_aarch64") == "2.28");
  CHECK(promised_glibc("manylinux1_x86_64") == "2.5");
  CHECK_FALSE(promised_glibc("linux_x86_64"));
  CHECK_FALSE(promised_glibc("musllinux_1_2_x86_64"));
  CHECK_FALSE(promised_glibc("manylinux_2_x86_64"));
}

TEST_CASE("requirements are read in all their forms", "[dist_info]") {
  const auto full = parse_requirement("Torch[opt, x] (>=2.8,<3) ; python_version < '3.13'");
  REQUIRE(full);
  CHECK(full->project == "torch");
  CHECK(full->extras == std::vector<std::string>{"opt", "x"});
  CHECK(full->specifiers == ">=2.8,<3");
  CHECK(full->marker == "python_version < '3.13'");
  CHECK(parse_requirement("torch==2.14.1")->specifiers == "==2.14.1");
  CHECK(parse_requirement("made @ https://host/made-1-py3-none-any.whl ; os_name == 'posix'")->url ==
        "https://host/made-1-py3-none-any.whl");
  for (const char* wrong : {"", "==1", "a b", "a[b", "-rfile", "--index-url http://h/", "a-"})
    CHECK_FALSE(parse_requirement(wrong));
}

TEST_CASE("metadata, WHEEL and RECORD are read with folded lines, quotes and either line end", "[dist_info]") {
  const auto metadata =
      parse_metadata("Name: made\r\nVersion: 1.0+cu130\r\nRequires-Dist: torch\r\n ==2.10\r\n\r\nName: not this\r\n");
  REQUIRE(metadata);
  CHECK(metadata->version == "1.0+cu130");
  CHECK(metadata->requires_dist == std::vector<std::string>{"torch\n==2.10"});
  CHECK_FALSE(parse_metadata("no headers"));
  CHECK(parse_wheel_info("Wheel-Version: 1.0\nTag: py3-none-any\n")->tags == std::vector<std::string>{"py3-none-any"});
  const auto record = parse_record("\"a,b \"\"c\"\".py\",sha256=abc,3\r\nmade-1.dist-info/RECORD,,\n");
  REQUIRE(record);
  REQUIRE(record->size() == 2);
  CHECK((*record)[0].path == "a,b \"c\".py");
  CHECK((*record)[0].sha256 == "abc");
  CHECK((*record)[0].size == 3);
  CHECK((*record)[1].sha256.empty());
  CHECK(parse_record("one,two\n").error().text() == "RECORD: line 1: three fields were expected (path, digest, size)");
}

TEST_CASE("markers are evaluated for the declared target", "[marker]") {
  const auto values = marker_values("3.11", "x86_64");
  const auto holds = [&](const char* marker) { return marker_holds(marker, values).value(); };
  CHECK(holds("platform_machine == 'x86_64' and sys_platform == 'linux'"));
  CHECK_FALSE(holds("sys_platform == 'win32' or (python_version >= \"3.12\" and os_name == 'posix')"));
  CHECK(holds("python_version < '3.12'"));
  CHECK(holds("python_full_version >= '3.9'"));
  CHECK_FALSE(holds("extra == 'test'"));
  CHECK_FALSE(holds("'test' in extras or 'dev' in dependency_groups"));
  CHECK(holds("'linux' in sys_platform"));
  CHECK(holds("platform_system not in 'Windows Darwin'"));
  for (const char* wrong :
       {"", "python_version", "nonsense == '1'", "(os_name == 'posix'", "os_name = 'posix'", "os_name == 'posix' and"})
    CHECK_FALSE(marker_holds(wrong, values));
  CHECK_FALSE(marker_holds(std::string(1000, '(') + "os_name == 'posix'", values));
}
