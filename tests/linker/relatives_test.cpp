#include "framework/linker/relatives.h"

#include <catch2/catch_all.hpp>

#include "framework/bytes/mapped_file.h"

using namespace compatrix;

TEST_CASE("the nearest relative is the same function, else a member of the same scope", "[relatives]") {
  const auto c10 =
      elf::read_elf("c10", MappedFile::open(std::string(FIXTURES) + "/torch/torch2_cuda12/libc10.so").value()).value();
  const auto cpu =
      elf::read_elf("cpu", MappedFile::open(std::string(FIXTURES) + "/torch/torch2_cuda12/libtorch_cpu.so").value())
          .value();
  const std::vector<const elf::ElfFile*> libraries{nullptr, cpu.get(), c10.get()};
  linker::Relatives relatives;
  const auto changed = relatives.find("_ZN3c1013MessageLoggerC1EPKcii", libraries);
  CHECK(changed.library == 2);
  CHECK(changed.instead == std::vector<std::string>{"c10::MessageLogger::MessageLogger(char const*, int, int, bool)"});
  const auto gone = relatives.find("_ZN3c104cuda9vanished_Ev", libraries);
  CHECK(gone.library == 2);
  CHECK(gone.instead.empty());
  CHECK(relatives.find("_ZN5other5thingEv", libraries).library == -1);
  CHECK(relatives.find("ncclAllReduce", libraries).library == -1);
}

TEST_CASE("a function that was compiled with the other std::string is known as the same one", "[relatives]") {
  const auto library =
      elf::read_elf("strings", MappedFile::open(std::string(FIXTURES) + "/strings/libstrings.so").value()).value();
  const std::vector<const elf::ElfFile*> libraries{library.get()};
  linker::Relatives relatives;
  CHECK(relatives.find("_ZN3c104nameEv", libraries).other_string_abi == "c10::name[abi:cxx11]()");
  const std::string text = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const&";
  const auto said = relatives.find("_ZN3c103sayERKSsi", libraries);
  CHECK(said.other_string_abi == "c10::say(" + text + ", int)");
  // The nearest signature comes first.
  CHECK(said.instead ==
        std::vector<std::string>{"c10::say(" + text + ", int)", "c10::say(" + text + ", int, bool, bool)"});
  const auto changed = relatives.find("_ZN3c103sayERKSsibbb", libraries);
  CHECK(changed.other_string_abi.empty());
  CHECK(changed.instead.front() == "c10::say(" + text + ", int, bool, bool)");
}
