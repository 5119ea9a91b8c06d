# lifeline_add_test(<name> [SYSTEM] [SANITIZERS <address|thread>...] [ENVIRONMENT <variable=value>...]
#                   [DEPENDS <test>...] COMMAND <command> [<argument>...])
#
# SYSTEM gives the label `system`: real brokers, killed or separate programs, or an outcome that the scheduler or the
# wall clock has a part in. All other tests are unit tests: they must never fail by chance.
#
# SANITIZERS names the sanitizer builds that run the test. A sanitizer sees only what code compiled with it does, so:
#   address  (with undefined) where C code of ours handles memory, which is nearly everything;
#   thread   where two threads of ours meet: an emitter and its harvester, a sink and its client library;
#   none     where the process under test is not ours, or does nothing that another test does not do under the
#            sanitizer: scripts, manual pages, settings and answers of brokers.
# Children that are killed are no exception: a report ends them (halt_on_error) before the test does.
function(lifeline_add_test name)
  cmake_parse_arguments(test "SYSTEM" "" "SANITIZERS;ENVIRONMENT;DEPENDS;COMMAND" ${ARGN})
  if(LIFELINE_SANITIZE)
    string(REPLACE "undefined" "address" sanitizer ${LIFELINE_SANITIZE})
    if(NOT sanitizer IN_LIST test_SANITIZERS)
      return()
    endif()
  endif()
  add_test(NAME ${name} COMMAND ${test_COMMAND})
  # Against what hangs: a busy machine takes minutes under a sanitizer. A test that skips itself as a whole ends with 77.
  set_tests_properties(${name} PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77)
  # How a test knows a report from other bad ends of its children, see tests/support.c.
  list(APPEND test_ENVIRONMENT ASAN_OPTIONS=exitcode=99
    "TSAN_OPTIONS=halt_on_error=1:exitcode=66:suppressions='${LIFELINE_TSAN_SUPPRESSIONS}'")
  # Sanitizers would take most of the sinks' time to read all authorities that this machine trusts.
  if(LIFELINE_SANITIZE)
    list(APPEND test_ENVIRONMENT SSL_CERT_FILE=/dev/null)
  endif()
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "${test_ENVIRONMENT}")
  if(test_DEPENDS)
    set_tests_properties(${name} PROPERTIES DEPENDS "${test_DEPENDS}")
  endif()
  if(test_SYSTEM)
    set_tests_properties(${name} PROPERTIES LABELS system)
  endif()
endfunction()

set(LIFELINE_TSAN_SUPPRESSIONS ${CMAKE_CURRENT_LIST_DIR}/../tests/sinks/tsan.supp)
