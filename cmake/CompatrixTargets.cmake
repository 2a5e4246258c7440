# Targets of the framework: one static library per layer, and the flags that all of our own code is built with.

option(COMPATRIX_SANITIZE "Build with the address and undefined-behaviour sanitizers" OFF)
option(COMPATRIX_FUZZ "Build the fuzz targets; needs clang" OFF)

add_library(compatrix_build_flags INTERFACE)
target_compile_features(compatrix_build_flags INTERFACE cxx_std_20)
# Off: g++ 12 warns of members that a designated initializer leaves at their default, which is what they are for, and
# its -Wrestrict has false positives on std::string concatenation (GCC bug 105651).
target_compile_options(compatrix_build_flags INTERFACE -Wall -Wextra -Werror -Wno-missing-field-initializers
                                                       $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
target_include_directories(compatrix_build_flags INTERFACE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/include")
if(COMPATRIX_SANITIZE)
  # Off: with the sanitizers g++ 12 sees uninitialised members in its own <regex> (GCC bug 105562).
  target_compile_options(compatrix_build_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_compile_options(compatrix_build_flags INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all
                                                         -fno-omit-frame-pointer)
  target_link_options(compatrix_build_flags INTERFACE -fsanitize=address,undefined)
endif()
if(COMPATRIX_FUZZ)
  target_compile_options(compatrix_build_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# compatrix_layer(<name> SOURCES <file>... DEPENDS <target>...)
# The static library compatrix_<name> of one layer. DEPENDS names earlier layers and outside libraries.
function(compatrix_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS")
  add_library(compatrix_${name} STATIC ${arg_SOURCES})
  set_target_properties(compatrix_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(compatrix_${name} PUBLIC compatrix_build_flags ${arg_DEPENDS})
endfunction()
