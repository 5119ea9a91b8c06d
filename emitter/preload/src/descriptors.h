/* From a descriptor to what it is: one read of an array, filled in when a descriptor is used for the first time.
 *
 * Most descriptors come from calls that nobody can wrap: inherited, made inside libc or by a system call of the
 * program's own. So no call that makes one is needed: fstat classifies it at its first use. Calls that close or
 * replace one are wrapped, and erase the entry. Where this fails (closed by a direct system call, and its number used
 * again), the next interval notices: each entry is compared with fstat once per interval.
 */
#ifndef LIFELINE_PRELOAD_DESCRIPTORS_H
#define LIFELINE_PRELOAD_DESCRIPTORS_H

#include "targets.h"

#include <sys/socket.h>

typedef struct io_descriptor {
  io_kind kind; /* IO_UNKNOWN: not measured */
  io_target target;
} io_descriptor;

/* False: no memory. */
bool io_descriptors_create(void);

io_descriptor io_descriptor_of(int fd);

/* A word for waits.h, 0 for a new descriptor; NULL for one that is not measured. */
uint64_t *io_descriptor_waits(int fd);

/* The program opened, accepted, connects or closed it. */
void io_descriptor_opened(int fd, const char *path);
void io_descriptor_accepted(int fd);
void io_descriptor_connects(int fd, const struct sockaddr *to, socklen_t bytes);
void io_descriptor_closed(int fd);
void io_descriptors_closed(unsigned first, unsigned last);

#endif
