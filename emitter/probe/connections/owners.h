/* Which process has a socket open: the inodes in /proc/PID/fd of the targets. */
#ifndef LIFELINE_PROBE_OWNERS_H
#define LIFELINE_PROBE_OWNERS_H

#include "processes/targets.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct owned {
  uint32_t inode, pid;
} owned;

typedef struct owners {
  owned *all; /* in the order of inodes, then of pids */
  size_t count, room;
} owners;

/* Reads the descriptors of all targets. */
void owners_read(owners *all, const targets *of);

/* A process with the socket; `earlier` if it has it, too. 0 if none has. */
uint32_t owners_find(const owners *all, uint32_t inode, uint32_t earlier);

/* Without memory the copy is empty. */
void owners_copy(owners *to, const owners *from);

/* True if a socket is among them that was not before. */
bool owners_are_new(const owners *now, const owners *before);

void owners_free(owners *all);

#endif
