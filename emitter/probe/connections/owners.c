#include "owners.h"

#include "base/say.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SOCKETS_MAX = 1 << 22 };

static void add(owners *all, uint32_t inode, uint32_t pid) {
  if (all->count == all->room) {
    size_t room = all->room ? all->room * 2 : 1024;
    owned *larger = room <= SOCKETS_MAX ? realloc(all->all, room * sizeof *larger) : NULL;
    if (larger == NULL) return;
    all->all = larger;
    all->room = room;
  }
  all->all[all->count++] = (owned){inode, pid};
}

/* "socket:[12345]" */
static uint32_t inode_of(char *link) {
  static const char prefix[] = "socket:[";
  uint64_t inode;
  char *number = link + strlen(prefix), *end;
  if (strncmp(link, prefix, strlen(prefix)) != 0 || (end = strchr(number, ']')) == NULL) return 0;
  *end = '\0';
  return text_number(&number, &inode) && inode <= UINT32_MAX ? (uint32_t)inode : 0;
}

static void say_forbidden(uint32_t pid) {
  SAY_ONCE(
      "the descriptors of other users' processes, such as %u, cannot be read: their connections are not sampled; the "
      "probe lacks CAP_SYS_PTRACE, which root has outside of containers",
      pid);
}

static void read_target(owners *all, const target *one) {
  int fd = openat(one->directory, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) {
    if (errno == EACCES || errno == EPERM) say_forbidden(one->pid);
    return; /* else it has ended */
  }
  DIR *directory = fdopendir(fd);
  if (directory == NULL) {
    close(fd);
    return;
  }
  for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
    char link[64];
    ssize_t bytes = readlinkat(fd, entry->d_name, link, sizeof link - 1);
    if (bytes < 0 && errno == EACCES) say_forbidden(one->pid);
    if (bytes <= 0) continue;
    link[bytes] = '\0';
    uint32_t inode = inode_of(link);
    if (inode != 0) add(all, inode, one->pid);
  }
  closedir(directory);
}

static int by_inode(const void *one, const void *other) {
  const owned *a = one, *b = other;
  if (a->inode != b->inode) return a->inode < b->inode ? -1 : 1;
  return a->pid < b->pid ? -1 : a->pid > b->pid;
}

void owners_read(owners *all, const targets *of) {
  all->count = 0;
  for (unsigned i = 0; i < of->count; i++)
    read_target(all, &of->all[i]);
  if (all->count > 0) qsort(all->all, all->count, sizeof *all->all, by_inode);
}

uint32_t owners_find(const owners *all, uint32_t inode, uint32_t earlier) {
  size_t from = 0, to = all->count;
  while (from < to) {
    size_t middle = (from + to) / 2;
    if (all->all[middle].inode < inode)
      from = middle + 1;
    else
      to = middle;
  }
  uint32_t first = from < all->count && all->all[from].inode == inode ? all->all[from].pid : 0;
  for (; from < all->count && all->all[from].inode == inode; from++)
    if (all->all[from].pid == earlier) return earlier;
  return first;
}

void owners_copy(owners *to, const owners *from) {
  to->count = 0;
  if (to->room < from->count) {
    owned *larger = realloc(to->all, from->room * sizeof *larger);
    if (larger == NULL) return;
    to->all = larger;
    to->room = from->room;
  }
  if (from->count > 0) memcpy(to->all, from->all, from->count * sizeof *to->all);
  to->count = from->count;
}

bool owners_are_new(const owners *now, const owners *before) {
  size_t at = 0;
  for (size_t i = 0; i < now->count; i++) {
    while (at < before->count && before->all[at].inode < now->all[i].inode)
      at++;
    if (at == before->count || before->all[at].inode != now->all[i].inode) return true;
  }
  return false;
}

void owners_free(owners *all) {
  free(all->all);
  *all = (owners){NULL, 0, 0};
}
