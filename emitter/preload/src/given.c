#include "given.h"

#include "io.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096, WORD_BYTES = 8 }; /* the smallest page that there is, and the kernel's set of signals */

/* The word around it lies in one page. The kernel reads the set of signals before it refuses the invalid request. No
 * filter of system calls forbids this one; process_vm_readv, made for it, is forbidden by many. */
static bool is_readable(uintptr_t at) {
  return syscall(SYS_rt_sigprocmask, ~0, at & ~(uintptr_t)(WORD_BYTES - 1), NULL, WORD_BYTES) == 0 || errno != EFAULT;
}

static uintptr_t next_page(uintptr_t at) {
  return (at | (PAGE_BYTES - 1)) + 1;
}

bool io_is_readable(const void *from, size_t bytes) {
  IO_KEEPS_ERRNO;
  uintptr_t first = (uintptr_t)from, last = first + bytes - 1;
  if (bytes == 0) return true;
  if (first == 0 || last < first) return false;
  for (uintptr_t at = first; at <= last && at >= first; at = next_page(at))
    if (!is_readable(at)) return false;
  return true;
}

bool io_is_readable_text(const char *text) {
  IO_KEEPS_ERRNO;
  for (uintptr_t at = (uintptr_t)text; at >= (uintptr_t)text && at != 0; at = next_page(at)) {
    if (!is_readable(at)) return false;
    if (memchr((const char *)at, '\0', next_page(at) - at) != NULL) return true; /* NOLINT: the same text */
  }
  return false;
}
