/* Whether this thread is in the child of a vfork, which shares its parent's memory but not its descriptors. */
#ifndef LIFELINE_PRELOAD_VFORK_H
#define LIFELINE_PRELOAD_VFORK_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
extern __thread uint32_t io_vforks __attribute__((tls_model("initial-exec"), visibility("hidden")));

static inline bool io_is_vforked(void) {
  return io_vforks != 0;
}
#else
#define IO_VFORK_BY_PID /* ask the kernel each time */
#endif

#endif
