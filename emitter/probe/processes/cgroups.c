#include "cgroups.h"

#include "base/file.h"
#include "base/say.h"
#include "base/text.h"

#include <lifeline/events.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEPTH_MAX = 16, MEMBERS_MAX = 1 << 20 };

/* Where hierarchies are mounted below /sys/fs/cgroup. "" is version 2; it and "unified" come first. */
static const char *const version2[] = {"", "unified/"};
static const char *const version1_cpu[] = {"cpuacct/", "cpu,cpuacct/", "cpuacct,cpu/", "cpu/"};
static const char *const version1_memory[] = {"memory/"};
static const char *const version1_io[] = {"blkio/"};

const char *cgroup_path(const char *argument) {
  static const char root[] = "/sys/fs/cgroup";
  if (strncmp(argument, root, strlen(root)) == 0) argument += strlen(root);
  while (*argument == '/')
    argument++;
  for (const char *at = argument; (at = strstr(at, "..")) != NULL; at += 2)
    if ((at == argument || at[-1] == '/') && (at[2] == '\0' || at[2] == '/')) return NULL;
  return argument;
}

/* The first of the files that exists, in a hierarchy of the list; NULL if none does. */
static char *read_in(int sys, const char *const *mounts, unsigned count, const char *path, const char *file) {
  char name[4600];
  for (unsigned i = 0; i < count; i++) {
    snprintf(name, sizeof name, "fs/cgroup/%s%s/%s", mounts[i], path, file);
    char *text = file_read(sys, name);
    if (text != NULL) return text;
  }
  return NULL;
}

#define READ(mounts, file) read_in(sys, mounts, sizeof mounts / sizeof mounts[0], path, file)

static bool number_in(char *text, uint64_t *value) {
  return text != NULL && text_number(&text, value);
}

static bool sample_cpu(int sys, const char *path) {
  uint64_t user, system, throttled = 0;
  char *text = READ(version2, "cpu.stat");
  if (text != NULL && text_value(text, "user_usec", &user) && text_value(text, "system_usec", &system)) {
    text_value(text, "throttled_usec", &throttled); /* only while the controller is on */
  } else {
    if (!number_in(READ(version1_cpu, "cpuacct.usage_user"), &user)) return false;
    if (!number_in(READ(version1_cpu, "cpuacct.usage_sys"), &system)) return false;
    user /= 1000, system /= 1000;
    text = READ(version1_cpu, "cpu.stat");
    if (text == NULL) {
      static const char *const alone[] = {"cpu/"};
      text = READ(alone, "cpu.stat");
    }
    if (text != NULL && text_value(text, "throttled_time", &throttled)) throttled /= 1000;
  }
  ll_emit(host_cgroup_cpu, path, user, system, throttled);
  return true;
}

static bool sample_memory(int sys, const char *path) {
  uint64_t used, anonymous = 0, cached = 0, failures = 0;
  char *text;
  if (number_in(READ(version2, "memory.current"), &used)) {
    if ((text = READ(version2, "memory.stat")) != NULL)
      text_value(text, "anon", &anonymous), text_value(text, "file", &cached);
    if ((text = READ(version2, "memory.events")) != NULL) text_value(text, "max", &failures);
  } else {
    if (!number_in(READ(version1_memory, "memory.usage_in_bytes"), &used)) return false;
    if ((text = READ(version1_memory, "memory.stat")) != NULL)
      text_value(text, "total_rss", &anonymous), text_value(text, "total_cache", &cached);
    number_in(READ(version1_memory, "memory.failcnt"), &failures);
  }
  ll_emit(host_cgroup_memory, path, used, anonymous, cached, failures);
  return true;
}

typedef struct io_counts {
  uint64_t reads, read_bytes, writes, write_bytes;
} io_counts;

/* "254:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=5 dios=6", a line per device. */
static void add_version2_io(char *text, io_counts *sum) {
  for (char *word; (word = text_word(&text)) != NULL;) {
    char *number = strchr(word, '=');
    uint64_t value;
    if (number == NULL) continue;
    *number++ = '\0';
    if (!text_number(&number, &value)) continue;
    if (strcmp(word, "rbytes") == 0) sum->read_bytes += value;
    if (strcmp(word, "wbytes") == 0) sum->write_bytes += value;
    if (strcmp(word, "rios") == 0) sum->reads += value;
    if (strcmp(word, "wios") == 0) sum->writes += value;
  }
}

/* "254:0 Read 1", "254:0 Write 2", and at the end "Total 3", which has one word less. */
static void add_version1_io(char *text, uint64_t *reads, uint64_t *writes) {
  for (char *line; (line = text_line(&text)) != NULL;) {
    uint64_t value;
    const char *device = text_word(&line), *kind = text_word(&line);
    if (device == NULL || kind == NULL || !text_number(&line, &value)) continue;
    if (strcmp(kind, "Read") == 0) *reads += value;
    if (strcmp(kind, "Write") == 0) *writes += value;
  }
}

static bool sample_io(int sys, const char *path) {
  io_counts sum = {0, 0, 0, 0};
  char *text = READ(version2, "io.stat");
  if (text != NULL) {
    add_version2_io(text, &sum);
  } else {
    if ((text = READ(version1_io, "blkio.throttle.io_service_bytes_recursive")) == NULL)
      text = READ(version1_io, "blkio.throttle.io_service_bytes");
    if (text == NULL) return false;
    add_version1_io(text, &sum.read_bytes, &sum.write_bytes);
    if ((text = READ(version1_io, "blkio.throttle.io_serviced_recursive")) == NULL)
      text = READ(version1_io, "blkio.throttle.io_serviced");
    if (text != NULL) add_version1_io(text, &sum.reads, &sum.writes);
  }
  ll_emit(host_cgroup_io, path, sum.reads, sum.read_bytes, sum.writes, sum.write_bytes);
  return true;
}

bool cgroups_sample(void *ctx, uint64_t now_ns) {
  const cgroups *from = ctx;
  bool good = true;
  (void)now_ns;
  for (unsigned i = 0; i < from->count; i++) {
    const char *path = from->paths[i];
    if (ll_event_is_on(host_cgroup_cpu) && !sample_cpu(from->sys, path)) {
      SAY_ONCE("cgroup %s has no processor accounting here; host.cgroup.cpu of it is not emitted", path);
      good = false;
    }
    if (ll_event_is_on(host_cgroup_memory) && !sample_memory(from->sys, path)) {
      SAY_ONCE("cgroup %s has no memory controller here; host.cgroup.memory of it is not emitted", path);
      good = false;
    }
    if (ll_event_is_on(host_cgroup_io) && !sample_io(from->sys, path)) {
      SAY_ONCE("cgroup %s has no I/O controller here; host.cgroup.io of it is not emitted", path);
      good = false;
    }
  }
  return good;
}

/* --- members ------------------------------------------------------------------------------------------------------ */

static void add_member(cgroup_members *members, uint64_t pid) {
  if (pid == 0 || pid > INT32_MAX || members->count == MEMBERS_MAX) return;
  if (members->count == members->room) {
    size_t room = members->room ? members->room * 2 : 256;
    uint32_t *pids = realloc(members->pids, room * sizeof *pids);
    if (pids == NULL) return;
    members->pids = pids;
    members->room = room;
  }
  members->pids[members->count++] = (uint32_t)pid;
}

static void collect(cgroup_members *members, int parent, const char *name, unsigned depth) {
  int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return;
  DIR *directory = fdopendir(fd);
  if (directory == NULL) {
    close(fd);
    return;
  }
  uint64_t pid;
  char *text = file_read(fd, "cgroup.procs");
  for (char *line; text != NULL && (line = text_line(&text)) != NULL;)
    if (text_number(&line, &pid)) add_member(members, pid);
  for (struct dirent *entry; depth < DEPTH_MAX && (entry = readdir(directory)) != NULL;)
    if (entry->d_type == DT_DIR && entry->d_name[0] != '.') collect(members, fd, entry->d_name, depth + 1);
  closedir(directory);
}

static int by_value(const void *one, const void *other) {
  const uint32_t *a = one, *b = other;
  return *a < *b ? -1 : *a > *b;
}

cgroup_members cgroup_members_read(int sys, const char *const *paths, unsigned count) {
  static const char *const mounts[] = {"",       "unified", "cpu,cpuacct", "cpuacct", "cpu",
                                       "memory", "blkio",   "pids",        "systemd"};
  cgroup_members members = {NULL, 0, 0};
  for (unsigned i = 0; i < count; i++) {
    size_t before = members.count;
    for (unsigned m = 0; m < sizeof mounts / sizeof mounts[0]; m++) {
      char name[4600];
      snprintf(name, sizeof name, "fs/cgroup/%s/%s", mounts[m], paths[i]);
      collect(&members, sys, name, 0);
    }
    if (members.count == before) SAY_ONCE("cgroup %s has no process, or does not exist", paths[i]);
  }
  if (members.count > 0) qsort(members.pids, members.count, sizeof *members.pids, by_value);
  return members;
}

bool cgroup_members_have(const cgroup_members *members, uint32_t pid) {
  return members->count > 0 && bsearch(&pid, members->pids, members->count, sizeof pid, by_value) != NULL;
}

void cgroup_members_free(cgroup_members *members) {
  free(members->pids);
  *members = (cgroup_members){NULL, 0, 0};
}
