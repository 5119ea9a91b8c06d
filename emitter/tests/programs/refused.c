/* A program to which the kernel refuses something: refused call NUMBER ERRNO [FLAGS [SECOND]], where the fourth
 * argument of the call must have one of the flags, and SECOND is the number of another one, or refused limit RESOURCE
 * VALUE. It prints its result, emits the serial numbers from 1 to EVENTS and exits with 5, whatever happens to the
 * events. */
#include <lifeline/lifeline.h>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

LL_EVENT(serial, "test.serial", LL_INFO, (u64, serial, ""));

enum { EVENTS = 1000, HALF = EVENTS / 2 };

static int refuse_call(unsigned number, unsigned error, unsigned flags) {
  enum { LOW_HALF = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : 4 };
  unsigned fourth = offsetof(struct seccomp_data, args) + 3 * sizeof(uint64_t) + LOW_HALF;
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, fourth),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, flags, 0, flags != 0 ? 1 : 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof code / sizeof code[0], code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 ? 0
                                                                                                                  : 77;
}

static int refuse_more(int resource, unsigned long value) {
  struct rlimit limit = {value, value};
  return setrlimit((__rlimit_resource_t)resource, &limit) == 0 ? 0 : 77;
}

int main(int argc, char **argv) {
  unsigned long values[4] = {0};
  for (int i = 2; i < argc && i < 6; i++)
    values[i - 2] = strtoul(argv[i], NULL, 0);
  int failed = argc < 4 ? 96
               : strcmp(argv[1], "call") == 0
                   ? refuse_call((unsigned)values[0], (unsigned)values[1], (unsigned)values[2])
                   : refuse_more((int)values[0], values[1]);
  if (failed == 0 && values[3] != 0) failed = refuse_call((unsigned)values[3], (unsigned)values[1], 0);
  if (failed != 0) return failed;
  puts("the result is 42");
  fflush(stdout); /* before the library's lines, which may reach a limit of the file */
  for (uint64_t i = 1; i <= EVENTS; i++) {
    if (i == HALF) ll_flush(10);
    ll_emit(serial, i);
  }
  return 5;
}
