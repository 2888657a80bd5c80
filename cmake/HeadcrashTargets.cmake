# Functions that the CMakeLists.txt files of this repository use:
#
#   headcrash_library(NAME SOURCES a.cc... TESTS a_test.cc... FUZZERS a_fuzz.cc... DEPENDS target... [TEST_LABELS threads|plain]
#                     [SHARDS n] [HOT])
#       a static library `headcrash_NAME`; from TESTS, one googletest program `headcrash_NAME_test`, whose tests run in
#       SHARDS parts (headcrash_add_unit_test); from FUZZERS (plugin/base/fuzz.h), a program `headcrash_NAME_fuzz` with the
#       ctest label `fuzz`. HOT marks a library in which unit tests spend their time. Only such libraries are optimised
#       under AddressSanitizer, because compiling the others would take longer than the optimisation saves. The same holds
#       for the few tests under ThreadSanitizer.
#   headcrash_embed(TARGET NAMESPACE ns FILES f...)
#       text files as string constants of TARGET: `ns::embedded_files()`, declared in "NAMESPACE_embedded.h"
#
# Every target has the same warnings (all are errors), sanitizers and include root. Headers are included by their path
# from the top of the repository, so an #include line shows which component it uses.
set(HEADCRASH_SANITIZE "" CACHE STRING "value of -fsanitize=, empty for none")

# The check preset omits unit tests; the sanitizer presets build and run them. A test that cannot run under a sanitizer, or
# would take too long, has the label `plain` and is always built.
option(HEADCRASH_UNIT_TESTS "build unit tests and fuzzers with everything else" ON)
option(HEADCRASH_WARNINGS_ARE_ERRORS "stop at warnings; the presets for development set it" OFF)

add_library(headcrash_options INTERFACE)
target_compile_features(headcrash_options INTERFACE cxx_std_20)
target_include_directories(headcrash_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(headcrash_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor $<$<BOOL:${HEADCRASH_WARNINGS_ARE_ERRORS}>:-Werror>
                                                   -Wno-missing-field-initializers  # options structs name only what they change
                                                   # GCC 14 sees optional values that are not read; sanitizers see real ones
                                                   $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
                                                   # GCC 12's stable_sort uses a function that it deprecates; clang reports that
                                                   $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>
                                                   -fPIC)  # programs, too: they share the precompiled headers of the libraries
if(HEADCRASH_SANITIZE)
  target_compile_options(headcrash_options INTERFACE -fsanitize=${HEADCRASH_SANITIZE} -fno-sanitize-recover=all
                                                     -fno-omit-frame-pointer)
  target_link_options(headcrash_options INTERFACE -fsanitize=${HEADCRASH_SANITIZE})
endif()

# Fuzz targets run under libFuzzer, guided by the code that an input reaches (plugin/base/testing/coverage_guided.h). Needs
# clang.
option(HEADCRASH_COVERAGE_GUIDED "fuzzers are guided by coverage" OFF)
add_custom_target(fuzzers)
if(HEADCRASH_COVERAGE_GUIDED)
  target_compile_options(headcrash_options INTERFACE -fsanitize=fuzzer-no-link)
  target_compile_definitions(headcrash_options INTERFACE HEADCRASH_COVERAGE_GUIDED)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-resource-dir OUTPUT_VARIABLE resources OUTPUT_STRIP_TRAILING_WHITESPACE)
  find_library(HEADCRASH_LIBFUZZER clang_rt.fuzzer_no_main-${CMAKE_SYSTEM_PROCESSOR} PATHS ${resources}/lib/linux NO_DEFAULT_PATH REQUIRED)
endif()

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

# Precompiled headers: one set for libraries, one for hot libraries and one for unit tests. They save a fifth of clang's time
# without optimisation; g++ is not faster with them.
option(HEADCRASH_PRECOMPILED_HEADERS "for clang" OFF)
function(headcrash_precompile)
  file(WRITE ${CMAKE_BINARY_DIR}/precompiled.cc "")
  foreach(whose library hot test)
    add_library(headcrash_precompiled_${whose} OBJECT ${CMAKE_BINARY_DIR}/precompiled.cc)
    target_link_libraries(headcrash_precompiled_${whose} PRIVATE headcrash_options fmt::fmt nlohmann_json::nlohmann_json)
    target_precompile_headers(headcrash_precompiled_${whose} PRIVATE
      <algorithm> <array> <chrono> <cstdint> <cstring> <deque> <filesystem> <fstream> <functional> <map> <memory> <mutex> <numeric>
      <optional> <random> <set> <span> <sstream> <string> <string_view> <thread> <unordered_map> <unordered_set> <variant> <vector>
      <fmt/format.h> <nlohmann/json.hpp>)
  endforeach()
  target_compile_options(headcrash_precompiled_hot PRIVATE -O1)
  target_link_libraries(headcrash_precompiled_test PRIVATE GTest::gtest)
  target_precompile_headers(headcrash_precompiled_test PRIVATE <gtest/gtest.h>)
endfunction()
function(headcrash_use_precompiled whose)
  if(HEADCRASH_PRECOMPILED_HEADERS)
    foreach(target ${ARGN})
      target_precompile_headers(${target} REUSE_FROM headcrash_precompiled_${whose})
    endforeach()
  endif()
endfunction()

# The targets that `cmake --install` needs. A package builds only these, and no tests.
add_custom_target(installed)

# The targets that the sanitizer presets build: all unit tests, and those that start threads.
add_custom_target(unit_tests)
add_custom_target(threads_tests)

# `unit.NAME`, or `unit.NAME.1` and so on: parts that ctest -j runs concurrently, so that no long program is left for one
# processor at the end. ctest begins with fuzzers and with tests of many parts.
function(headcrash_add_unit_test name)
  cmake_parse_arguments(ARG "" "SHARDS" "LABELS" ${ARGN})
  if(NOT ARG_SHARDS)
    set(ARG_SHARDS 1)
  endif()
  foreach(shard RANGE 1 ${ARG_SHARDS})
    set(test unit.${name})
    if(ARG_SHARDS GREATER 1)
      string(APPEND test .${shard})
    endif()
    math(EXPR index "${shard} - 1")
    add_test(NAME ${test} COMMAND headcrash_${name}_test)
    set_tests_properties(${test} PROPERTIES LABELS "unit;${ARG_LABELS}" TIMEOUT 900 COST ${ARG_SHARDS}
                         ENVIRONMENT "GTEST_TOTAL_SHARDS=${ARG_SHARDS};GTEST_SHARD_INDEX=${index}")
  endforeach()
endfunction()

function(headcrash_library name)
  cmake_parse_arguments(ARG "HOT" "SHARDS" "SOURCES;TESTS;FUZZERS;DEPENDS;TEST_LABELS" ${ARGN})
  add_library(headcrash_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(headcrash_${name} PUBLIC headcrash_options fmt::fmt ${ARG_DEPENDS})
  if(ARG_HOT AND HEADCRASH_SANITIZE MATCHES address)
    target_compile_options(headcrash_${name} PRIVATE -O1)
    headcrash_use_precompiled(hot headcrash_${name})
  else()
    headcrash_use_precompiled(library headcrash_${name})
  endif()
  if(ARG_TESTS)
    add_executable(headcrash_${name}_test ${ARG_TESTS})
    target_link_libraries(headcrash_${name}_test PRIVATE headcrash_${name} GTest::gtest_main)
    headcrash_use_precompiled(test headcrash_${name}_test)
    headcrash_add_unit_test(${name} SHARDS ${ARG_SHARDS} LABELS ${ARG_TEST_LABELS})
    add_dependencies(unit_tests headcrash_${name}_test)
    if(NOT HEADCRASH_UNIT_TESTS AND NOT "plain" IN_LIST ARG_TEST_LABELS)
      set_target_properties(headcrash_${name}_test PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
    if("threads" IN_LIST ARG_TEST_LABELS)
      add_dependencies(threads_tests headcrash_${name}_test)
    endif()
  endif()
  if(ARG_FUZZERS)
    add_executable(headcrash_${name}_fuzz ${ARG_FUZZERS})
    target_link_libraries(headcrash_${name}_fuzz PRIVATE headcrash_${name} GTest::gtest_main)
    headcrash_use_precompiled(test headcrash_${name}_fuzz)
    add_test(NAME fuzz.${name} COMMAND headcrash_${name}_fuzz)
    set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz TIMEOUT 7200 COST 10)   # some seconds for each of its targets
    add_dependencies(unit_tests headcrash_${name}_fuzz)
    add_dependencies(fuzzers headcrash_${name}_fuzz)
    if(HEADCRASH_COVERAGE_GUIDED)
      target_link_libraries(headcrash_${name}_fuzz PRIVATE ${HEADCRASH_LIBFUZZER})
    endif()
    if(NOT HEADCRASH_UNIT_TESTS)
      set_target_properties(headcrash_${name}_fuzz PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
  endif()
endfunction()

function(headcrash_embed target)
  cmake_parse_arguments(ARG "" "NAMESPACE" "FILES" ${ARGN})
  string(REPLACE "::" "_" stem ${ARG_NAMESPACE})
  set(out ${CMAKE_CURRENT_BINARY_DIR}/embedded)
  set(paths)
  foreach(file ${ARG_FILES})
    list(APPEND paths ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  endforeach()
  add_custom_command(
    OUTPUT ${out}/${stem}_embedded.cc ${out}/${stem}_embedded.h
    COMMAND ${CMAKE_COMMAND} -DOUT=${out}/${stem}_embedded -DNAMESPACE=${ARG_NAMESPACE} "-DFILES=${paths}"
            -P ${CMAKE_SOURCE_DIR}/cmake/EmbedFiles.cmake
    DEPENDS ${paths} ${CMAKE_SOURCE_DIR}/cmake/EmbedFiles.cmake
    VERBATIM)
  # A command of one target waits for all libraries of that target, and sources that include its header wait for the
  # command. A command of two targets waits only for their common dependencies, of which there are none.
  add_custom_target(${stem}_embedded DEPENDS ${out}/${stem}_embedded.cc ${out}/${stem}_embedded.h)
  target_sources(${target} PRIVATE ${out}/${stem}_embedded.cc ${out}/${stem}_embedded.h)
  target_include_directories(${target} PRIVATE ${out})
endfunction()
