/* Memory limit of this process' control groups. Pages of the ring file count against it, and the kernel kills the
 * program when it is exceeded. */
#ifndef LIFELINE_CGROUP_H
#define LIFELINE_CGROUP_H

#include <stdint.h>

typedef struct ll_cgroup_memory {
  uint64_t limit; /* the lowest of the group and the groups that contain it; UINT64_MAX: none */
  uint64_t room;  /* left below the limits, with the file cache that the kernel gives up first */
} ll_cgroup_memory;

#define LL_CGROUP_MEMBERSHIP "/proc/thread-self/cgroup"
#define LL_CGROUP_MOUNTS "/sys/fs/cgroup"

/* Version 1 and 2, at their usual places (the parameters differ in tests only). What cannot be read limits nothing.
 * Buffers are static, since the program's stack may be small: the thread that starts the emitter calls this, then the
 * harvester. */
ll_cgroup_memory ll_cgroup_memory_of(const char *membership, const char *mounts);

#endif
