/* This program's events and its own count of them.
 *
 * The count is made at the call sites and liblifeline has no hand in it, so that the books can be checked against
 * something that did not keep them. */
#ifndef REMOTE_COPY_EMIT_H
#define REMOTE_COPY_EMIT_H

#include <lifeline/events.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

extern _Atomic uint64_t emit_count;
extern bool emit_is_on;

#ifdef LIFELINE_DISABLE
#define EMIT(type, ...) ll_emit(type, __VA_ARGS__)
#else
#define EMIT(type, ...)                                                                                                \
  do {                                                                                                                 \
    if (emit_is_on) {                                                                                                  \
      atomic_fetch_add_explicit(&emit_count, 1, memory_order_relaxed);                                                 \
      ll_emit(type, __VA_ARGS__);                                                                                      \
    }                                                                                                                  \
  } while (0)
#endif

/* Before any thread starts: switches instrumentation on if the environment asks for it. A setting that is wrong has
 * been reported by liblifeline on stderr; the copy goes on without events. */
void emit_begin(void);

/* What the kernel knows about the connection right after a block: whether bytes wait here or at the peer tells a slow
 * network from a slow disk behind it. Two system calls, made only while instrumentation is on. */
void emit_socket_sample(int fd, uint64_t block_id);

#endif
