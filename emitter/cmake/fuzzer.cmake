# lifeline_fuzzer(<name> SOURCES <file>... [INCLUDES <folder>...] [DEFINES <definition>...] [LIBRARIES <library>...])
# makes lifeline-fuzz-<name> in fuzz/ of the build tree. By clang alone, whatever compiles the rest, with its own
# sanitizers and coverage; so not at all in sanitizers' builds. `make fuzz` runs them.
find_program(LIFELINE_CLANG NAMES clang-14 clang NO_CMAKE_SYSTEM_PATH)

# A clang without its libraries (Debian: libclang-rt) cannot link a fuzzer.
if(LIFELINE_CLANG AND NOT LIFELINE_SANITIZE)
  set(probe ${CMAKE_BINARY_DIR}/CMakeFiles/fuzzer-probe)
  file(WRITE ${probe}.c "int LLVMFuzzerTestOneInput(void) { return 0; }\n")
  execute_process(COMMAND ${LIFELINE_CLANG} -fsanitize=fuzzer,address,undefined ${probe}.c -o ${probe}
    RESULT_VARIABLE LIFELINE_NO_FUZZER OUTPUT_QUIET ERROR_QUIET)
  if(LIFELINE_NO_FUZZER)
    set(LIFELINE_CLANG LIFELINE_CLANG-NOTFOUND)
  endif()
endif()
set(clang "")
if(LIFELINE_CLANG)
  set(clang ${LIFELINE_CLANG})
endif()
file(WRITE ${CMAKE_BINARY_DIR}/fuzz/clang "${clang}") # for scripts/fuzz; empty when there are no fuzzers

function(lifeline_fuzzer name)
  cmake_parse_arguments(fuzz "" "" "SOURCES;INCLUDES;DEFINES;LIBRARIES" ${ARGN})
  if(LIFELINE_SANITIZE)
    return()
  elseif(NOT LIFELINE_CLANG)
    message(STATUS "clang or its libFuzzer is missing: no lifeline-fuzz-${name}")
    return()
  endif()
  list(TRANSFORM fuzz_INCLUDES APPEND /*.h OUTPUT_VARIABLE headers)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${headers})
  list(TRANSFORM fuzz_INCLUDES PREPEND -I)
  list(TRANSFORM fuzz_DEFINES PREPEND -D)
  list(TRANSFORM fuzz_LIBRARIES PREPEND -l)
  set(binary ${CMAKE_BINARY_DIR}/fuzz/lifeline-fuzz-${name})
  add_custom_command(
    OUTPUT ${binary}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/fuzz
    COMMAND ${LIFELINE_CLANG} -std=c11 -D_GNU_SOURCE ${fuzz_DEFINES} -g -O1 -fsanitize=fuzzer,address,undefined
            -fno-sanitize-recover=all -fprofile-instr-generate -fcoverage-mapping ${fuzz_INCLUDES}
            ${fuzz_SOURCES} -o ${binary} ${fuzz_LIBRARIES}
    DEPENDS ${fuzz_SOURCES} ${headers}
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
    COMMENT "Building lifeline-fuzz-${name}"
    VERBATIM)
  add_custom_target(fuzz-${name} ALL DEPENDS ${binary})
endfunction()
