#ifndef LIFELINE_FUTEX_H
#define LIFELINE_FUTEX_H

#include <errno.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Sleeps while *word is `expected`, for at most timeout_ns. May return early for any reason. Preserves errno, since
 * emits call this, too. */
static inline void futex_wait(uint32_t *word, uint32_t expected, uint64_t timeout_ns) {
  struct timespec timeout = {(time_t)(timeout_ns / 1000000000), (long)(timeout_ns % 1000000000)};
  int error = errno;
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, &timeout, NULL, 0);
  errno = error;
}

static inline void futex_wake(uint32_t *word, int threads) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, threads, NULL, NULL, 0);
}

#endif
