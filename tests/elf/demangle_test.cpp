#include "framework/elf/demangle.h"

#include <catch2/catch_all.hpp>

using compatrix::elf::demangle;
using compatrix::elf::entity_of;
using compatrix::elf::without_string_abi;

TEST_CASE("two signatures of one function are one entity", "[demangle]") {
  const auto before = entity_of("_ZN3c104cuda29c10_cuda_check_implementationEiPKcS2_ib");
  const auto after = entity_of("_ZN3c104cuda29c10_cuda_check_implementationEiPKcS2_jb");
  CHECK(before.name == after.name);
  CHECK(before.scope() == "N3c104cuda");
  CHECK(entity_of("_ZN3c1013MessageLoggerC1EPKcii").name == entity_of("_ZN3c1013MessageLoggerC2EPKciib").name);
  CHECK(entity_of("_ZNK3c106SymInt6sym_neERKS0_").name == entity_of("_ZN3c106SymInt6sym_neEv").name);
  CHECK(entity_of("_Z3fooi").name == entity_of("_Z3foov").name);
}

TEST_CASE("template arguments are part of the entity, however nested", "[demangle]") {
  CHECK(entity_of("_ZNK2at10TensorBase8data_ptrIfEEPT_v").scope() == "N2at10TensorBase");
  CHECK(entity_of("_ZNSt6vectorISt4pairIiNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEESaIS7_EE9push_backERKS7_")
            .scope() == "NSt6vectorISt4pairIiNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEESaIS7_EE");
  CHECK(entity_of("_ZN1a1bILi12ELb1EE1fEv").scope() == "N1a1bILi12ELb1EE");
}

TEST_CASE("ABI tags are no part of the entity", "[demangle]") {
  CHECK(entity_of("_ZNK5torch8autograd4Node4nameB5cxx11Ev").name == entity_of("_ZNK5torch8autograd4Node4nameEv").name);
  CHECK(entity_of("_Z4nameB5cxx11v").name == entity_of("_Z4namev").name);
  CHECK(entity_of("_Z4nameB5cxx11IiEvT_").name == entity_of("_Z4nameIiEvT_").name);
}

TEST_CASE("names that only the std::string ABI tells apart have one plain spelling", "[demangle]") {
  CHECK(without_string_abi(demangle("_ZNK5torch8autograd4Node4nameB5cxx11Ev")) ==
        demangle("_ZNK5torch8autograd4Node4nameEv"));
  CHECK(without_string_abi(demangle("_ZN5torch3jit17parseSchemaOrNameE"
                                    "RKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEb")) ==
        demangle("_ZN5torch3jit17parseSchemaOrNameERKSsb"));
}

TEST_CASE("names of other kinds have no entity and do not end the reader", "[demangle]") {
  for (const char* name : {"", "_Z", "_ZN", "_ZN3", "_ZN99999999999999999999a", "main", "_ZN1aI", "_ZNSt",
                           "_ZZ4mainE1x", "_ZN1aILE", "_ZGVZ1fvE1x"})
    CHECK(entity_of(name).name.empty());
}

TEST_CASE("what can't be demangled is shown as it is", "[demangle]") {
  CHECK(demangle("_ZN3c1013MessageLoggerC1EPKcii") == "c10::MessageLogger::MessageLogger(char const*, int, int)");
  CHECK(demangle("ncclAllReduce") == "ncclAllReduce");
  const std::string long_name = "_Z" + std::string(5000, 'N');
  CHECK(demangle(long_name) == long_name);
}
