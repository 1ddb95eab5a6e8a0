# Functions that give every target of ours the same flags, and nothing outside of them any.

# Flags for code that we own: warnings are errors, frame pointers stay so that profiles have whole stacks.
function(blockreplay_compile_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wconversion -Wshadow -Werror)
  # libstdc++ 12's stable_sort uses a function that it has itself deprecated; Clang reports that at the call.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
  blockreplay_code_generation_options(${target})
  if(BLOCKREPLAY_SANITIZE)
    # With sanitizers GCC 12 sees uninitialised members inside absl::InlinedVector that are not read.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  endif()
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR})
  if(BLOCKREPLAY_TIDY)
    set_target_properties(${target} PROPERTIES CXX_CLANG_TIDY clang-tidy-19)
  endif()
endfunction()

# Flags that generated code gets too.
function(blockreplay_code_generation_options target)
  target_compile_options(${target} PRIVATE -fno-omit-frame-pointer -momit-leaf-frame-pointer)
  if(BLOCKREPLAY_SANITIZE)
    target_compile_options(${target} PUBLIC -fsanitize=${BLOCKREPLAY_SANITIZE} -fno-sanitize-recover=all)
    target_link_options(${target} PUBLIC -fsanitize=${BLOCKREPLAY_SANITIZE})
  endif()
  blockreplay_pgo_options(${target})
  if(BLOCKREPLAY_FUZZ)
    # The fuzzer is guided by the coverage of the code under test, not only of its entry point.
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

# Profile-guided optimisation (docs/pgo.md): BLOCKREPLAY_PGO=generate instruments, =use optimises with what the
# instrumented program wrote to BLOCKREPLAY_PGO_DIR, =sample with branches that perf sampled (Clang). Counters are atomic because trees are hashed by several threads.
function(blockreplay_pgo_options target)
  if(NOT BLOCKREPLAY_PGO)
    return()
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Names of profiles are relative to the build tree, so that one build reads what another one wrote.
    set(flags -fprofile-update=atomic -fprofile-prefix-path=${CMAKE_BINARY_DIR})
    if(BLOCKREPLAY_PGO STREQUAL "generate")
      list(APPEND flags -fprofile-generate=${BLOCKREPLAY_PGO_DIR})
    else()
      # What the training did not reach is optimised as without a profile, not for size. The optimiser inlines
      # other things than in the release build, where its guesses about uninitialised variables are errors.
      # Generated sources lie in another build folder than when they were instrumented: a mismatch of
      # locations, which GCC 12 reports, but uses the counts all the same.
      list(APPEND flags -fprofile-use=${BLOCKREPLAY_PGO_DIR} -fprofile-partial-training -Wno-missing-profile
           -Wno-error=maybe-uninitialized -Wno-error=coverage-mismatch)
    endif()
  elseif(BLOCKREPLAY_PGO STREQUAL "sample")
    set(flags -fprofile-sample-use=${BLOCKREPLAY_PGO_DIR}/default.afdo)
  elseif(BLOCKREPLAY_PGO STREQUAL "generate")
    set(flags -fprofile-instr-generate -fprofile-update=atomic)
  else()
    set(flags -fprofile-instr-use=${BLOCKREPLAY_PGO_DIR}/default.profdata -Wno-profile-instr-unprofiled)
  endif()
  target_compile_options(${target} PRIVATE ${flags})
  target_link_options(${target} PUBLIC ${flags})
endfunction()

# blockreplay_library(NAME SOURCES ... DEPS ...)
function(blockreplay_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  blockreplay_compile_options(${name})
  target_link_libraries(${name} PUBLIC ${ARG_DEPS})
endfunction()

# blockreplay_test(NAME SOURCES ... DEPS ... [TIMEOUT seconds]): one GoogleTest program; each of its tests is a CTest test.
function(blockreplay_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;DEPS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  blockreplay_compile_options(${name})
  target_compile_definitions(${name} PRIVATE BLOCKREPLAY_FIXTURES="${PROJECT_SOURCE_DIR}/fixtures")
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gmock GTest::gtest_main)
  include(GoogleTest)
  gtest_discover_tests(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} DISCOVERY_TIMEOUT 60)
endfunction()

# blockreplay_fuzzer(NAME SOURCES ... DEPS ...): a libFuzzer program. Without BLOCKREPLAY_FUZZ the same source is
# a test that runs the entry point over the committed corpus `<source dir>/corpus/<name>/`, so that findings stay fixed.
function(blockreplay_fuzzer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  if(BLOCKREPLAY_FUZZ)
    add_executable(${name} ${ARG_SOURCES})
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  else()
    add_executable(${name} ${ARG_SOURCES} ${PROJECT_SOURCE_DIR}/cmake/fuzz_corpus_main.cc)
    add_test(NAME ${name}_corpus COMMAND ${name} ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${name})
  endif()
  blockreplay_compile_options(${name})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS})
endfunction()

# blockreplay_benchmark(NAME SOURCES ... DEPS ...): a Google Benchmark program.
function(blockreplay_benchmark name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  blockreplay_compile_options(${name})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} benchmark::benchmark)
endfunction()
