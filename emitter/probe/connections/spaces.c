#include "spaces.h"

#include "base/say.h"
#include "diag.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The sockets, made in the calling thread's namespace. */
static bool make(space *one, uint64_t inode) {
  *one = (space){.inode = inode, .fd = diag_open(), .ends = -1, .used = true};
  if (one->fd < 0) {
    SAY_ONCE("the kernel cannot be asked about sockets: %s; connections are not sampled", strerror(errno));
    return false;
  }
  one->ends = diag_open_ends();
  if (one->ends < 0)
    SAY_ONCE("ends of connections are not notified (%s; some kernels demand CAP_NET_ADMIN): their last values are "
             "those of the "
             "last sample, and connections that end before they are found are missed",
             strerror(errno));
  return true;
}

/* The only place where the thread changes its namespace; it comes back, or the probe ends: it would measure another
 * machine from then on. */
static bool make_elsewhere(space *one, const target *of, uint64_t inode) {
  int here = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
  int there = openat(of->directory, "ns/net", O_RDONLY | O_CLOEXEC);
  bool good = false;
  if (here >= 0 && there >= 0 && setns(there, CLONE_NEWNET) == 0) {
    good = make(one, inode);
    if (setns(here, CLONE_NEWNET) != 0) {
      say("cannot return to the network namespace: %s", strerror(errno));
      _exit(1);
    }
  } else {
    SAY_ONCE("the network namespace of process %u cannot be entered: %s; connections of other namespaces are not "
             "sampled (it needs CAP_SYS_ADMIN and CAP_SYS_PTRACE)",
             of->pid, strerror(errno));
  }
  if (here >= 0) close(here);
  if (there >= 0) close(there);
  return good;
}

static space *find(spaces *all, uint64_t inode) {
  for (unsigned i = 0; i < all->count; i++)
    if (all->all[i].inode == inode) return &all->all[i];
  return NULL;
}

static void close_space(space *one) {
  if (one->fd >= 0) close(one->fd);
  if (one->ends >= 0) close(one->ends);
}

static void close_unused(spaces *all) {
  unsigned kept = 1;
  for (unsigned i = 1; i < all->count; i++) {
    if (all->all[i].used)
      all->all[kept++] = all->all[i];
    else
      close_space(&all->all[i]);
  }
  all->count = kept;
}

bool spaces_update(spaces *all, const targets *of) {
  struct stat status;
  if (all->count == 0) {
    uint64_t own = stat("/proc/thread-self/ns/net", &status) == 0 ? status.st_ino : 0;
    if (!make(&all->all[0], own)) return false;
    all->count = 1;
  }
  for (unsigned i = 1; i < all->count; i++)
    all->all[i].used = false;
  for (unsigned i = 0; i < of->count; i++) {
    if (fstatat(of->all[i].directory, "ns/net", &status, 0) != 0) continue; /* not permitted: its own is assumed */
    space *known = find(all, status.st_ino);
    if (known != NULL) {
      known->used = true;
    } else if (all->count == SPACES_MAX) {
      SAY_ONCE("more than %d network namespaces: connections in the others are not sampled", SPACES_MAX);
    } else if (make_elsewhere(&all->all[all->count], &of->all[i], status.st_ino)) {
      all->count++;
    }
  }
  close_unused(all);
  return true;
}

void spaces_close(spaces *all) {
  for (unsigned i = 0; i < all->count; i++)
    close_space(&all->all[i]);
  all->count = 0;
}

bool space_enter(const char *name) {
  char path[4352];
  snprintf(path, sizeof path, strchr(name, '/') != NULL ? "%s" : "/run/netns/%s", name);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  bool good = setns(fd, CLONE_NEWNET) == 0;
  int error = errno;
  close(fd);
  errno = error;
  return good;
}
