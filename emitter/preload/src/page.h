/* State of this process alone: the kernel wipes it in a forked child, also in one that was made without libc. */
#ifndef LIFELINE_PRELOAD_PAGE_H
#define LIFELINE_PRELOAD_PAGE_H

#include <stdint.h>

enum { IO_OWN_MAX = 4096, IO_THREADS_MAX = 128 };

typedef enum io_state {
  IO_FORKED, /* not measured yet: most children exec at once */
  IO_LOADED, /* no operation yet */
  IO_RUNNING,
} io_state;

typedef struct io_process {
  uint32_t state;
  uint32_t pid;
  uint32_t calls;                /* before it is measured */
  uint64_t nbytes;               /* that those moved */
  uint64_t began_ns;             /* when it was loaded, or the forked child's first operation began */
  uint64_t refused_ns;           /* when a thread first was where the emitter must not be started */
  uint32_t threads;              /* of the library */
  uint32_t tids[IO_THREADS_MAX]; /* theirs; 0: none */
  uint64_t own[IO_OWN_MAX / 64]; /* bit set of the library's descriptors */
} io_process;

extern io_process *io_page;

/* Shared with all descendants: what those have done that ended before they became emitters. */
typedef struct io_unseen {
  uint64_t children, operations, nbytes;
} io_unseen;

extern io_unseen *io_shared;

#endif
