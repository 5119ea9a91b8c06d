/* The network namespaces of the targets: sockets can only be asked about from within theirs. */
#ifndef LIFELINE_PROBE_SPACES_H
#define LIFELINE_PROBE_SPACES_H

#include "processes/targets.h"

#include <stdbool.h>
#include <stdint.h>

#define SPACES_MAX 64

typedef struct space {
  uint64_t inode; /* of the namespace */
  int fd;         /* for questions, diag.h */
  int ends;       /* for ends; -1: not permitted */
  bool used;
} space;

typedef struct spaces {
  space all[SPACES_MAX];
  unsigned count;
} spaces;

/* Opens what is needed for the targets and the probe's own namespace, which is the first; closes what is not needed. */
bool spaces_update(spaces *all, const targets *of);

void spaces_close(spaces *all);

/* Enters a namespace: a name of `ip netns`, or a path. The calling thread only. False with errno. */
bool space_enter(const char *name);

#endif
