#include "cgroup.h"

#include "low.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct version {
  const char *directories[3]; /* below the mounts; that of version 2 depends on whether version 1 is there, too */
  const char *limit, *usage, *cache[2];
} version;

static const version versions[] = {
    {{"/memory", NULL},
     "memory.limit_in_bytes",
     "memory.usage_in_bytes",
     {"\ntotal_inactive_file ", "\ntotal_active_file "}},
    {{"", "/unified", NULL}, "memory.max", "memory.current", {"\ninactive_file ", "\nactive_file "}},
};

static bool read_text(const char *directory, const char *name, char *text, size_t size) {
  static char path[PATH_MAX];
  if (snprintf(path, sizeof path, "%s/%s", directory, name) >= (int)sizeof path) return false;
  int fd = ll_open(path, O_RDONLY | O_CLOEXEC);
  ssize_t length = fd >= 0 ? read(fd, text, size - 1) : -1;
  if (fd >= 0) close(fd);
  text[length > 0 ? length : 0] = '\0';
  return length > 0;
}

static uint64_t number_in(const char *directory, const char *name, uint64_t otherwise) {
  char text[32];
  if (!read_text(directory, name, text, sizeof text) || text[0] < '0' || text[0] > '9') return otherwise;
  uint64_t number = strtoull(text, NULL, 10);
  return number < UINT64_C(1) << 60 ? number : otherwise; /* "none" of version 1 */
}

static void look(const version *as, const char *directory, ll_cgroup_memory *found) {
  uint64_t limit = number_in(directory, as->limit, UINT64_MAX);
  if (limit == UINT64_MAX) return;
  if (limit < found->limit) found->limit = limit;
  static char text[4096];
  text[0] = '\n';
  uint64_t usage = number_in(directory, as->usage, 0), cache = 0;
  if (!read_text(directory, "memory.stat", text + 1, sizeof text - 1)) text[1] = '\0';
  for (int i = 0; i < 2; i++) {
    const char *at = strstr(text, as->cache[i]);
    if (at != NULL) cache += strtoull(at + strlen(as->cache[i]), NULL, 10);
  }
  usage = usage > cache ? usage - cache : 0;
  uint64_t room = limit > usage ? limit - usage : 0;
  if (room < found->room) found->room = room;
}

/* From the group to the root. In a container without a cgroup namespace the path may be that of the host: then the
 * mounted root is the container's group. */
static void look_upwards(const version *as, const char *mounts, const char *group, ll_cgroup_memory *found) {
  for (int i = 0; as->directories[i] != NULL; i++) {
    static char path[PATH_MAX];
    int root = snprintf(path, sizeof path, "%s%s", mounts, as->directories[i]);
    if (root < 0 || snprintf(path + root, sizeof path - (size_t)root, "%s", group) >= (int)(sizeof path - (size_t)root))
      continue;
    for (;;) {
      look(as, path, found);
      char *slash = strrchr(path + root, '/');
      if (slash == NULL) break;
      *slash = '\0';
    }
  }
}

static bool has_memory(const char *controllers, size_t bytes) {
  static const char memory[] = "memory";
  for (const char *at = controllers, *end = at + bytes; at < end;) {
    size_t length = 0;
    while (at + length < end && at[length] != ',')
      length++;
    if (length == sizeof memory - 1 && memcmp(at, memory, length) == 0) return true;
    at += length + 1;
  }
  return false;
}

ll_cgroup_memory ll_cgroup_memory_of(const char *membership, const char *mounts) {
  ll_cgroup_memory found = {UINT64_MAX, UINT64_MAX};
  static char text[4096];
  char *rest = text;
  if (!read_text("", membership + 1, text, sizeof text)) return found;
  for (char *line; (line = strsep(&rest, "\n")) != NULL;) { /* number:controllers:path */
    char *controllers = strchr(line, ':'), *path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
    if (path == NULL) continue;
    size_t length = (size_t)(path - controllers - 1);
    if (length == 0 || has_memory(controllers + 1, length))
      look_upwards(&versions[length == 0], mounts, path + 1, &found);
  }
  return found;
}
