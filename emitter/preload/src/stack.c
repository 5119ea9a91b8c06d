#include "stack.h"

#include "base/cancellation.h"

#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { STACK_BYTES = 512 << 10 }; /* touched as far as it is used */

typedef struct call {
  void (*function)(void *);
  void *argument;
} call;

/* makecontext passes integers only. */
static void begin(unsigned high, unsigned low) {
  const call *now = (const call *)((uintptr_t)high << 32 | low); /* NOLINT: a pointer, in two halves */
  now->function(now->argument);
}

bool io_on_own_stack(void (*function)(void *), void *argument) {
  ucontext_t here, there;
  sigset_t all, before;
  call now = {function, argument};
  ll_cancellation cancellation;
  /* A thread that is cancelled here, at once or in a call, would look for its own frames on the wrong stack. */
  ll_cancellation_off(&cancellation);
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  void *memory =
      mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  bool done = memory != MAP_FAILED && getcontext(&there) == 0;
  if (done) {
    there.uc_stack.ss_sp = memory;
    there.uc_stack.ss_size = STACK_BYTES;
    there.uc_link = &here;
    makecontext(&there, (void (*)(void))begin, 2, (unsigned)((uintptr_t)&now >> 32), (unsigned)(uintptr_t)&now);
    swapcontext(&here, &there);
  }
  if (memory != MAP_FAILED) munmap(memory, STACK_BYTES);
  sigprocmask(SIG_SETMASK, &before, NULL);
  ll_cancellation_restore(&cancellation);
  return done;
}
