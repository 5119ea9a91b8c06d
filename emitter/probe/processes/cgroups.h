/* Control groups, of version 1 (a hierarchy per controller) and 2. */
#ifndef LIFELINE_PROBE_CGROUPS_H
#define LIFELINE_PROBE_CGROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cgroups {
  int sys;
  const char *const *paths;
  unsigned count;
} cgroups;

/* Emits host.cgroup.* of each; a sample_function, ctx is a cgroups. */
bool cgroups_sample(void *ctx, uint64_t now_ns);

/* The processes in some control groups and their descendants. */
typedef struct cgroup_members {
  uint32_t *pids; /* sorted */
  size_t count, room;
} cgroup_members;

cgroup_members cgroup_members_read(int sys, const char *const *paths, unsigned count);
bool cgroup_members_have(const cgroup_members *members, uint32_t pid);
void cgroup_members_free(cgroup_members *members);

/* The path within a hierarchy, of an argument that may begin with /sys/fs/cgroup. NULL if it has a "..". */
const char *cgroup_path(const char *argument);

#endif
