#include "descriptors.h"

#include "measure.h"
#include "peer.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  DESCRIPTORS = 1 << 20, /* higher ones are not measured */
  FIRST_DESCRIPTORS = 1 << 10,
};

/* A word is kind, flags, interval, slot, generation. */
enum { ACCEPTED = 1, FILE_NAMED = 2, PEER_NAMED = 4, REDACTED = 8 };

typedef struct entry {
  uint64_t word;     /* 0: unknown. Written last */
  uint64_t identity; /* of the file behind the descriptor */
  uint64_t waits;    /* of waits.c */
} entry;

static entry *entries;
static unsigned available; /* entries that have memory: a program with mlockall has all of that at once */
static int highest;        /* descriptor with an entry that was ever set */

static bool make_available(unsigned count) {
  if (mprotect(entries, count * sizeof *entries, PROT_READ | PROT_WRITE) != 0) return false;
  unsigned before = __atomic_load_n(&available, __ATOMIC_RELAXED);
  while (count > before &&
         !__atomic_compare_exchange_n(&available, &before, count, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
  }
  return true;
}

bool io_descriptors_create(void) {
  void *memory =
      mmap(NULL, DESCRIPTORS * sizeof *entries, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  entries = memory == MAP_FAILED ? NULL : memory;
  return entries != NULL && make_available(FIRST_DESCRIPTORS);
}

static uint64_t word_of(io_kind kind, uint8_t flags, io_target target) {
  return (uint64_t)kind << 56 | (uint64_t)flags << 48 | (uint64_t)io_interval() << 32 | (uint64_t)target.slot << 16 |
         target.generation;
}

static io_kind kind_in(uint64_t word) {
  return (io_kind)(word >> 56);
}
static uint8_t flags_in(uint64_t word) {
  return (uint8_t)(word >> 48);
}
static uint16_t interval_in(uint64_t word) {
  return (uint16_t)(word >> 32);
}
static io_target target_in(uint64_t word) {
  return (io_target){(uint16_t)(word >> 16), (uint16_t)word};
}

/* NULL: never used, or not measured. */
static entry *known_entry_of(int fd) {
  return (unsigned)fd < __atomic_load_n(&available, __ATOMIC_ACQUIRE) ? &entries[fd] : NULL;
}

__attribute__((noinline, cold)) static entry *new_entry_of(int fd) {
  IO_KEEPS_ERRNO;
  unsigned count = FIRST_DESCRIPTORS;
  if ((unsigned)fd >= DESCRIPTORS) return NULL;
  while (count <= (unsigned)fd)
    count *= 2;
  return make_available(count) ? &entries[fd] : NULL;
}

static entry *entry_of(int fd) {
  entry *at = known_entry_of(fd);
  return __builtin_expect(at != NULL, 1) ? at : new_entry_of(fd);
}

static void set(entry *at, uint64_t word) {
  int fd = (int)(at - entries), before = __atomic_load_n(&highest, __ATOMIC_RELAXED);
  while (fd > before &&
         !__atomic_compare_exchange_n(&highest, &before, fd, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  __atomic_store_n(&at->word, word, __ATOMIC_RELEASE);
}

/* --- the first use --- */

static io_kind kind_of(int fd, const struct stat *status) {
  int domain = 0;
  socklen_t bytes = sizeof domain;
  switch (status->st_mode & S_IFMT) {
  case S_IFREG:
  case S_IFDIR:
  case S_IFBLK: return IO_DISK;
  case S_IFIFO: return IO_PIPE;
  case S_IFSOCK:
    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &bytes) == 0 && domain == AF_UNIX) return IO_PIPE;
    return IO_NET;
  default: return IO_OTHER;
  }
}

static uint64_t identity_of(const struct stat *status) {
  return (uint64_t)status->st_ino ^ (uint64_t)status->st_dev << 40 ^ (uint64_t)(status->st_mode & S_IFMT) << 20;
}

static void cut_suffix(char *path, const char *suffix) {
  size_t bytes = strlen(path), most = strlen(suffix);
  if (bytes > most && strcmp(path + bytes - most, suffix) == 0) path[bytes - most] = '\0';
}

/* With a name that is complete, since a pattern of --redact may be for its end. */
static io_target name_as(io_kind kind, const struct stat *status, char *path, ssize_t bytes, size_t room) {
  if (bytes <= 0 || bytes == (ssize_t)room) return io_target_find(kind, "(unknown name)", true);
  path[bytes] = '\0';
  if (status->st_nlink == 0) cut_suffix(path, " (deleted)");
  if (strncmp(path, "pipe:[", 6) == 0) strcpy(path, "pipe");
  return io_target_find(kind, path, true);
}

__attribute__((noinline)) static io_target name_at_length(const char *link, io_kind kind, const struct stat *status) {
  char path[PATH_MAX];
  return name_as(kind, status, path, readlink(link, path, sizeof path), sizeof path);
}

/* snprintf needs more than a kilobyte of the stack. */
static void write_link(int fd, char link[40]) {
  char digits[12], *first = digits + sizeof digits;
  *--first = '\0';
  do
    *--first = (char)('0' + fd % 10);
  while ((fd /= 10) > 0);
  strcpy(stpcpy(link, "/proc/thread-self/fd/"), first); /* of a thread: the first one may have ended */
}

/* A file is named by the path under which it is open, which survives renames and needs no current directory. The stack
 * of a signal handler may have no room for a long one. */
static io_target name_file(int fd, io_kind kind, const struct stat *status) {
  char link[40], path[256];
  write_link(fd, link);
  ssize_t bytes = readlink(link, path, sizeof path);
  if (bytes == sizeof path && !io_is_on_signal_stack()) return name_at_length(link, kind, status);
  return name_as(kind, status, path, bytes, sizeof path);
}

static io_target name(int fd, io_kind kind, const struct stat *status, uint8_t flags) {
  char peer[IO_PEER_BYTES];
  if ((flags & REDACTED) != 0) return io_target_find(kind, IO_NAME_REDACTED, true);
  if (!S_ISSOCK(status->st_mode)) return name_file(fd, kind, status);
  bool path = io_peer(fd, (flags & ACCEPTED) != 0, peer);
  return io_target_find(kind, peer, path);
}

/* The identity is stored before the word. Two threads that do this at once store the same. */
__attribute__((noinline, cold)) static uint64_t classify(int fd, entry *at, uint64_t known) {
  IO_KEEPS_ERRNO;
  struct stat status;
  if (!io_is_here() || fstat(fd, &status) != 0) return 0;
  uint64_t identity = identity_of(&status);
  uint8_t flags = flags_in(known);
  io_kind kind = kind_in(known);
  io_target target = target_in(known);
  bool same = kind != IO_UNKNOWN && __atomic_load_n(&at->identity, __ATOMIC_RELAXED) == identity;
  if (!same) {
    kind = kind_of(fd, &status);
    if (kind_in(known) != IO_UNKNOWN) flags = 0; /* another file */
    bool named = (kind == IO_DISK && (flags & FILE_NAMED) != 0) || (kind == IO_NET && (flags & PEER_NAMED) != 0);
    if (!named || !io_target_is_current(target)) target = name(fd, kind, &status, flags);
  } else if (!io_target_is_current(target)) {
    target = name(fd, kind, &status, flags);
  }
  uint64_t word = word_of(kind, flags, target);
  __atomic_store_n(&at->identity, identity, __ATOMIC_RELAXED);
  set(at, word);
  return word;
}

io_descriptor io_descriptor_of(int fd) {
  entry *at = entry_of(fd);
  if (__builtin_expect(at == NULL, 0)) return (io_descriptor){IO_UNKNOWN, {0, 0}};
  uint64_t word = __atomic_load_n(&at->word, __ATOMIC_ACQUIRE);
  if (__builtin_expect(kind_in(word) == IO_UNKNOWN || interval_in(word) != io_interval(), 0))
    word = classify(fd, at, word);
  return (io_descriptor){kind_in(word), target_in(word)};
}

uint64_t *io_descriptor_waits(int fd) {
  entry *at = known_entry_of(fd);
  return at != NULL ? &at->waits : NULL;
}

/* --- what the program does --- */

/* An absolute path is the name. Others are looked up at the first use, which most opened files never see. A pattern may
 * be for this path, but not for the one that is found then. */
void io_descriptor_opened(int fd, const char *path) {
  IO_KEEPS_ERRNO;
  entry *at = entry_of(fd);
  io_target target;
  if (at == NULL) return;
  bool is_name = path != NULL && path[0] == '/' && strncmp(path, "/proc/self/", 11) != 0 &&
                 strncmp(path, "/proc/thread-self/", 18) != 0;
  if (is_name && !io_is_here()) return;
  if (is_name && io_target_is_secret(path))
    set(at, word_of(IO_UNKNOWN, FILE_NAMED | REDACTED, io_target_find(IO_DISK, IO_NAME_REDACTED, true)));
  else if (is_name && io_target_expect(&target, IO_DISK, path, true))
    set(at, word_of(IO_UNKNOWN, FILE_NAMED, target));
  else
    io_descriptor_closed(fd);
}

/* Before the call: a connection in progress has no peer that could be asked for. */
void io_descriptor_connects(int fd, const struct sockaddr *to, socklen_t bytes) {
  IO_KEEPS_ERRNO;
  char peer[IO_PEER_BYTES];
  entry *at = entry_of(fd);
  if (at == NULL || !io_is_here()) return;
  set(at, io_peer_at(to, bytes, peer) ? word_of(IO_UNKNOWN, PEER_NAMED, io_target_find(IO_NET, peer, false)) : 0);
}

void io_descriptor_accepted(int fd) {
  entry *at = entry_of(fd);
  if (at != NULL && io_is_here()) set(at, word_of(IO_UNKNOWN, ACCEPTED, (io_target){0, 0}));
}

/* Also in the child of a vfork, where it makes the parent classify its own descriptor again. */
void io_descriptor_closed(int fd) {
  entry *at = known_entry_of(fd);
  if (at == NULL || __atomic_load_n(&at->word, __ATOMIC_RELAXED) == 0) return;
  __atomic_store_n(&at->waits, 0, __ATOMIC_RELAXED);
  set(at, 0);
}

void io_descriptors_closed(unsigned first, unsigned last) {
  unsigned most = (unsigned)__atomic_load_n(&highest, __ATOMIC_RELAXED);
  if (last > most) last = most;
  for (unsigned fd = first; fd <= last; fd++)
    io_descriptor_closed((int)fd);
}
