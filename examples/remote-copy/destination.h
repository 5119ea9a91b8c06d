/* One file on its way to disk. It is written under a temporary name in its own directory, synced, and renamed only
 * when its checksum is right: under its own name a file is always whole. */
#ifndef REMOTE_COPY_DESTINATION_H
#define REMOTE_COPY_DESTINATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "failure.h"
#include "wire.h"

struct destination {
  int directory; /* that holds the file; -1 while no file is open */
  int file;
  int pipe; /* into the --through command, or -1 */
  pid_t command;
  unsigned mode;
  char path[WIRE_MAX_PATH_BYTES + 1]; /* as it came over the wire */
  char temporary_name[64];
};

#define DESTINATION_INIT                                                                                               \
  { .directory = -1, .file = -1, .pipe = -1 }

/* root is the directory below which everything stays: the path is checked, its directories are made as needed and
 * no symbolic link is followed. The functions return false with the reason in failure. */
bool destination_open(struct destination *destination, int root, const char *path, unsigned mode, bool direct,
                      const char *through, struct failure *failure);
bool destination_write(struct destination *destination, const unsigned char *data, size_t nbytes, uint64_t offset,
                       struct failure *failure);
/* Makes what was written durable; for a --through command, waits until it has ended. */
bool destination_sync(struct destination *destination, struct failure *failure);
/* Gives the file its name. */
bool destination_publish(struct destination *destination, struct failure *failure);
/* Forgets the file, and removes it unless it was published. */
void destination_close(struct destination *destination);

#endif
