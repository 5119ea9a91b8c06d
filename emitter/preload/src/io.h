/* Vocabulary of the preload: what is measured, and where its parts meet.
 *
 *   real          the functions that are wrapped, as the next object in the search order defines them
 *   settings      the environment, checked
 *   names         names of files and peers as they are reported: shortened, hashed or hidden
 *   targets       sums per file or peer, and their report
 *   descriptors   from a descriptor to its kind and target, in one array read
 *   own           descriptors of the library, which the program must not close by accident
 *   given         whether memory that the program names in a call can be read
 *   waits         waits in poll and its like, as parts of the operations that they were for
 *   stack         a stack of its own for what the program's may be too small for
 *   measure       one operation: caliper and sums; start, fork and end of measuring
 *   wrap_*        the wrappers, generated from one table each
 */
#ifndef LIFELINE_PRELOAD_IO_H
#define LIFELINE_PRELOAD_IO_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum io_kind {
  IO_UNKNOWN,
  IO_DISK,  /* regular files, directories, block devices */
  IO_NET,   /* sockets, except those of the next line */
  IO_PIPE,  /* pipes, FIFOs and AF_UNIX sockets: within the machine */
  IO_OTHER, /* terminals, character devices, eventfd and its like */
  IO_KINDS
} io_kind;

typedef enum io_way { IO_READ, IO_WRITE, IO_SYNC, IO_CONNECT, IO_ACCEPT, IO_WAYS } io_way;

/* The name of a caliper; NULL for combinations that do not exist. The last one has no descriptor. */
const char *io_caliper_name(io_kind kind, io_way way);
#define IO_WAIT_NAME "wait.poll"

static inline void io_restore_errno(const int *kept) {
  errno = *kept;
}

/* First in each function that a wrapper calls around the real call: errno is the program's. */
#define IO_KEEPS_ERRNO __attribute__((cleanup(io_restore_errno), unused)) const int kept_errno = errno

#endif
