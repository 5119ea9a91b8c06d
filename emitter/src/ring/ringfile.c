#include "ringfile.h"

#include "base/atomics.h"
#include "base/bytes.h"
#include "base/cgroup.h"
#include "base/crash_point.h"
#include "base/directory.h"
#include "base/log.h"
#include "base/low.h"
#include "base/untouched.h"
#include "layout.h"
#include "slots.h"
#include "validate.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { REMAINS_LEAST = 16 << 20, REMAINS_MOST = 256 << 20 };

int ll_store_allocate(int fd, uint64_t offset, uint64_t bytes) {
  int error;
  do
    error = posix_fallocate(fd, (off_t)offset, (off_t)bytes);
  while (error == EINTR);
  return error;
}

size_t ll_store_least_budget(uint32_t other_routes) {
  return (2u << 20) + other_routes * (size_t)(3u << 20);
}

size_t ll_store_budget_within(uint64_t memory_limit, size_t budget_bytes, uint32_t other_routes) {
  size_t least = ll_store_least_budget(other_routes);
  if (memory_limit / 4 >= budget_bytes) return budget_bytes;
  return memory_limit / 4 > least ? memory_limit / 4 : least;
}

/* Half of the budget is for sealed batches that wait for acknowledgement, half for rings. */
static uint32_t slots_within(size_t budget_bytes) {
  size_t count = budget_bytes / 2 / LL_SLOT_BYTES;
  return count < LL_SLOTS_MAX ? (uint32_t)count : LL_SLOTS_MAX;
}

/* Disk usage of a ring file, or 0 if its owner is alive. */
static uint64_t remains_in(int directory, const char *name, bool all) {
  struct stat status;
  ll_process owner;
  if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode)) return 0;
  int fd = all ? -1 : ll_openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  bool alive = fd >= 0 && pread(fd, &owner, sizeof owner, offsetof(ll_file_header, owner)) == (ssize_t)sizeof owner &&
               ll_process_liveness(&owner) == LL_ALIVE;
  if (fd >= 0) close(fd);
  return alive ? 0 : (uint64_t)status.st_blocks * 512;
}

static uint64_t remains(int directory, bool all) {
  uint64_t bytes = 0;
  int fd = ll_openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
  if (entries == NULL && fd >= 0) close(fd);
  if (entries == NULL) return 0;
  for (struct dirent *entry; (entry = readdir(entries)) != NULL;)
    if (strstr(entry->d_name, ".rings") != NULL) bytes += remains_in(directory, entry->d_name, all);
  closedir(entries);
  return bytes;
}

/* Files of ended runs must not fill the machine's memory, or that of a container, while the broker is unreachable: the
 * limit is an eighth of the filesystem, between 16 and 256 MiB, and in memory at most an eighth of what the control
 * group may have. Existing files are not deleted to meet it. */
static uint64_t most_remains(int directory) {
  struct statfs filesystem;
  if (fstatfs(directory, &filesystem) != 0) return UINT64_MAX;
  uint64_t most = (uint64_t)filesystem.f_blocks * (uint64_t)filesystem.f_bsize / 8;
  most = most < REMAINS_LEAST ? REMAINS_LEAST : most > REMAINS_MOST ? REMAINS_MOST : most;
  if (filesystem.f_type != TMPFS_MAGIC) return most;
  uint64_t limit = ll_cgroup_memory_of(LL_CGROUP_MEMBERSHIP, LL_CGROUP_MOUNTS).limit;
  return limit / 8 < most ? limit / 8 : most;
}

/* Whether owners are alive is checked only if necessary. */
static bool is_cluttered(int directory, const char *path, char *why, size_t why_bytes) {
  uint64_t bytes = remains(directory, true);
  if (bytes == 0) return false;
  uint64_t most = most_remains(directory);
  if (bytes <= most || (bytes = remains(directory, false)) <= most) return false;
  snprintf(why, why_bytes, "earlier runs have left %llu MiB in %s, the limit is %llu: run lifeline-recover",
           (unsigned long long)(bytes >> 20), path, (unsigned long long)(most >> 20));
  return true;
}

/* The kernel would end the program by a signal. */
bool ll_store_exceeds_limit(uint64_t bytes) {
  struct rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur;
}

static int create_file(ll_store *store, const char *directory, char *why, size_t why_bytes) {
  int directory_fd = ll_directory_open(directory, "ring", true, why, why_bytes);
  if (directory_fd < 0) return -1;
  store->cluttered = is_cluttered(directory_fd, directory, why, why_bytes);
  if (store->cluttered) {
    close(directory_fd);
    return -1;
  }
  int fd = ll_openat(directory_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  close(directory_fd);
  if (fd < 0) {
    snprintf(why, why_bytes, "no file can be created in ring directory %s: %s", directory, strerror(errno));
    return -1;
  }
  int error = ll_store_exceeds_limit(store->bytes) ? EFBIG : 0;
  if (error == 0)
    error = ftruncate(fd, (off_t)store->bytes) == 0 ? ll_store_allocate(fd, 0, ll_layout_descriptors()) : errno;
  if (error == 0) error = ll_store_allocate(fd, ll_layout_rings(), ll_layout_slots() - ll_layout_rings());
  struct stat status, root;
  if (error == 0 && (fstat(fd, &status) != 0 || stat("/", &root) != 0)) error = errno;
  if (error != 0) {
    bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
    snprintf(why, why_bytes, "%s ring directory %s: %s", full ? "no space in" : "no file can be prepared in", directory,
             strerror(error));
    close(fd);
    return -1;
  }
  store->device = status.st_dev;
  store->inode = status.st_ino;
  store->root_device = root.st_dev;
  store->root_inode = root.st_ino;
  return fd;
}

void ll_store_program(const char *program, char *name, size_t name_bytes) {
  snprintf(name, name_bytes, "%.48s", program);
  for (char *c = name; *c != '\0'; c++)
    if (*c == '/' || *c == '\n') *c = '_';
}

static void choose_path(ll_store *store, const char *directory, const char *program, const uint8_t incarnation[16]) {
  char name[64], hex[33];
  ll_store_program(program, name, sizeof name);
  ll_hex(incarnation, 16, hex);
  snprintf(store->path, sizeof store->path, "%s/%s-%d-%s.rings", directory, name, (int)getpid(), hex);
}

int ll_store_create(ll_store *store, const char *directory, const char *program, size_t budget_bytes,
                    const uint8_t incarnation[16], char *why, size_t why_bytes) {
  memset(store, 0, sizeof *store);
  uint32_t slot_count = slots_within(budget_bytes);
  store->bytes = ll_layout_round_up(ll_layout_data(slot_count) + budget_bytes - (uint64_t)slot_count * LL_SLOT_BYTES,
                                    LL_PAGE_BYTES);
  choose_path(store, directory, program, incarnation);

  int fd = create_file(store, directory, why, why_bytes);
  if (fd >= 0) {
    store->map = mmap(NULL, store->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    store->crash_safe = store->map != MAP_FAILED;
    if (!store->crash_safe) {
      snprintf(why, why_bytes, "ring file %s cannot be mapped: %s", store->path, strerror(errno));
      close(fd); /* else it would be published, and a recovery could not read it */
      fd = -1;
    }
  }
  store->in_file = store->crash_safe;
  if (!store->in_file) {
    store->map = ll_untouched(store->bytes);
    if (store->map == NULL) {
      if (fd >= 0) close(fd);
      return ENOMEM;
    }
  }
  store->inherited = madvise(store->map, store->bytes, MADV_DONTFORK) != 0;
  ll_layout_point(store);

  ll_file_header *header = store->header;
  header->version = LL_FILE_VERSION;
  header->file_bytes = store->bytes;
  header->slots_offset = ll_layout_slots();
  header->data_offset = ll_layout_data(slot_count);
  header->slot_count = slot_count;
  memcpy(header->incarnation, incarnation, sizeof header->incarnation);
  header->owner = ll_process_self();
  ll_store_deal(store, 0, NULL);
  header->magic = LL_FILE_MAGIC;
  store->unnamed_fd = fd;
  return 0;
}

/* The default route gets one half; the other routes share the other half equally. */
void ll_store_deal(ll_store *store, uint32_t other_routes, const char names[][LL_ROUTE_NAME_BYTES]) {
  ll_file_header *header = store->header;
  uint64_t data = header->file_bytes - header->data_offset;
  uint32_t slot_share = other_routes > 0 ? header->slot_count / 2 / other_routes : 0;
  uint64_t data_share = other_routes > 0 ? data / 2 / other_routes : 0;
  header->route_count = 1 + other_routes;
  header->routes[0] = (ll_route_books){.name = "default",
                                       .slot_count = header->slot_count - slot_share * other_routes,
                                       .ring_bytes_most = data - data_share * other_routes};
  for (uint32_t i = 1; i <= other_routes; i++) {
    const ll_route_books *before = &header->routes[i - 1];
    header->routes[i] = (ll_route_books){
        .first_slot = before->first_slot + before->slot_count, .slot_count = slot_share, .ring_bytes_most = data_share};
    memcpy(header->routes[i].name, names[i - 1], LL_ROUTE_NAME_BYTES);
  }
}

/* Space cannot be reserved in a file without a name, and touching an unallocated page may raise SIGBUS. So move the
 * contents to anonymous memory. */
static void move_to_memory(ll_store *store) {
  uint8_t *map = ll_untouched(store->bytes);
  if (map == NULL) return;
  memcpy(map, store->map, ll_layout_descriptors());
  memcpy(map + ll_layout_descriptors(), store->descriptors, store->header->descriptors_used);
  munmap(store->map, store->bytes);
  store->inherited = madvise(map, store->bytes, MADV_DONTFORK) != 0;
  store->map = map;
  store->in_file = false;
  ll_layout_point(store);
}

void ll_store_publish(ll_store *store, char *why, size_t why_bytes) {
  if (store->unnamed_fd < 0) return;
  char self[64];
  snprintf(self, sizeof self, "/proc/thread-self/fd/%d", store->unnamed_fd); /* the main thread may have ended */
  if (linkat(AT_FDCWD, self, AT_FDCWD, store->path, AT_SYMLINK_FOLLOW) != 0) {
    snprintf(why, why_bytes, "ring file %s cannot be created: %s", store->path, strerror(errno));
    store->crash_safe = false;
    move_to_memory(store);
  }
  close(store->unnamed_fd);
  store->unnamed_fd = -1;
}

/* Emitting continues, but events are lost if this process is killed. */
static void lose_crash_safety(ll_store *store, const char *why) {
  if (!__atomic_exchange_n(&store->crash_safe, false, __ATOMIC_ACQ_REL)) return;
  ll_log(LL_LOG_WARN, "ring file %s %s; from now on events do not survive a crash of this program", store->path, why);
}

/* Before Linux 5.14: opens the file again by its name, which fails if the program changed its user or root. */
static bool allocate_by_path(ll_store *store, uint64_t offset, uint64_t bytes) {
  int fd = ll_open(store->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  struct stat status;
  bool ours = fd >= 0 && fstat(fd, &status) == 0 && status.st_dev == store->device && status.st_ino == store->inode;
  bool reserved = ours && ll_store_allocate(fd, offset, bytes) == 0;
  int error = errno;
  if (fd >= 0) close(fd);
  if (!ours && error != EMFILE && error != ENFILE)
    lose_crash_safety(store, "cannot be opened again, so it cannot grow, and events that do not fit are dropped");
  return reserved;
}

/* Releases the whole pages of the range. Pages that cannot be released stay. */
static void give_back(ll_store *store, uint64_t begin, uint64_t end) {
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  begin = ll_layout_round_up(begin, page);
  end -= end % page;
  if (end > begin) madvise(store->map + begin, end - begin, MADV_REMOVE);
}

/* Populating pages through the mapping needs neither a descriptor nor a name. */
bool ll_store_reserve(ll_store *store, uint64_t offset, uint64_t bytes) {
  if (!store->in_file) return true;
  if (store->unnamed_fd >= 0) return ll_store_allocate(store->unnamed_fd, offset, bytes) == 0;
  uint64_t begin = offset - offset % (uint64_t)sysconf(_SC_PAGESIZE);
  if (madvise(store->map + begin, offset + bytes - begin, MADV_POPULATE_WRITE) == 0) return true;
  int error = errno;
  if (error == EFAULT || error == ENOMEM) return false; /* no space */
  if (allocate_by_path(store, offset, bytes)) return true;
  if (error != EINVAL) store->denied = error;
  return false;
}

void ll_store_give_back(ll_store *store, uint64_t offset, uint64_t bytes) {
  if (store->in_file && store->unnamed_fd < 0) give_back(store, offset, offset + bytes);
}

/* Releases the gaps between batches, and the slots and slot words behind the last batch. */
static void trim_slots(ll_store *store, uint32_t route) {
  const ll_route_books *books = &store->header->routes[route];
  ll_slot_range range = ll_slots_of(store, route);
  uint64_t sequence, from = ll_layout_slots() + (uint64_t)range.first * LL_SLOT_BYTES;
  const ll_slot *latest = ll_slot_latest(store, route, &sequence);
  for (uint32_t i = range.first; i < range.end; i++) {
    uint64_t at = ll_layout_slots() + (uint64_t)i * LL_SLOT_BYTES;
    if (ll_slot_extent(store, i, latest) == 0) continue;
    give_back(store, from, at);
    bool sealed = ll_slot_state_of(load_acquire(&store->header->slot_words[i])) == LL_SLOT_SEALED;
    from = at + (sealed ? ll_slot_used(ll_slot_at(store, i)) : sizeof(ll_slot));
  }
  uint64_t end = books->first_slot + books->slot_count;
  const uint64_t words = offsetof(ll_file_header, slot_words);
  give_back(store, from, ll_layout_slots() + end * LL_SLOT_BYTES);
  give_back(store, words + range.end * sizeof(uint64_t), words + end * sizeof(uint64_t));
}

void ll_store_trim(ll_store *store) {
  const ll_file_header *header = store->header;
  if (!store->in_file || store->unnamed_fd >= 0) return;
  for (uint32_t i = 0; i < header->ring_count; i++) {
    const ll_ring *ring = &store->rings[i];
    if (ring->head == ring->tail) give_back(store, ring->offset, ring->offset + ring->bytes);
  }
  give_back(store, ll_layout_rings() + header->ring_count * sizeof(ll_ring), ll_layout_slots());
  for (uint32_t route = 0; route < header->route_count; route++)
    trim_slots(store, route);
}

void ll_store_look(ll_store *store) {
  struct stat status, root;
  if (!store->in_file || !load_acquire(&store->crash_safe) || store->unnamed_fd >= 0) return;
  if (stat("/", &root) != 0 || root.st_dev != store->root_device || root.st_ino != store->root_inode) return;
  bool found = lstat(store->path, &status) == 0;
  if (found ? status.st_dev != store->device || status.st_ino != store->inode : errno == ENOENT)
    lose_crash_safety(store, "is gone");
}

/* Whether, according to the kernel, any process has the file open for writing or mapped writable. */
typedef enum usage { NO_USERS, SOME_USERS, USERS_UNKNOWN } usage;

/* State of the file before it was opened for writing. `users` applies to these two processes. */
typedef struct outlook {
  usage users;
  ll_process owner, recoverer;
} outlook;

static bool is_local(const struct statfs *filesystem) {
  return filesystem->f_type == TMPFS_MAGIC || filesystem->f_type == EXT4_SUPER_MAGIC ||
         filesystem->f_type == XFS_SUPER_MAGIC || filesystem->f_type == BTRFS_SUPER_MAGIC;
}

/* The kernel grants a read lease only while no process on this machine has the file open for writing. An owner keeps
 * its mapping until it dies or executes another program, so this works even if its pid is meaningless here. Only on
 * filesystems known to be local: with stacked ones (overlayfs) a mapping refers to the lower file and is not detected,
 * and files of network filesystems may have users elsewhere. The lease is released at once; a process that opens the
 * file meanwhile waits for that. The signal for this case is one that is ignored by default. */
static usage users_of(int fd) {
  struct statfs filesystem;
  if (fstatfs(fd, &filesystem) != 0 || !is_local(&filesystem)) return USERS_UNKNOWN;
  fcntl(fd, F_SETSIG, SIGURG);
  if (fcntl(fd, F_SETLEASE, F_RDLCK) != 0) return errno == EAGAIN ? SOME_USERS : USERS_UNKNOWN;
  fcntl(fd, F_SETLEASE, F_UNLCK);
  return NO_USERS;
}

/* Reads the processes before the users: a process that takes the file over in between is still detected as a user. */
static outlook look_from_outside(const char *path) {
  outlook found = {.users = USERS_UNKNOWN};
  int fd = ll_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return found;
  const size_t bytes = sizeof(ll_process);
  if (pread(fd, &found.owner, bytes, offsetof(ll_file_header, owner)) == (ssize_t)bytes &&
      pread(fd, &found.recoverer, bytes, offsetof(ll_file_header, recoverer)) == (ssize_t)bytes)
    found.users = users_of(fd);
  close(fd);
  return found;
}

static bool may_be_alive(const ll_process *process, const ll_process *then, usage users, bool other_namespaces) {
  if (memcmp(process, then, sizeof *process) != 0) users = USERS_UNKNOWN;
  ll_liveness liveness = ll_process_liveness(process);
  if (liveness == LL_ALIVE || liveness == LL_DEAD) return liveness == LL_ALIVE;
  return users == SOME_USERS || (users == USERS_UNKNOWN && !other_namespaces);
}

/* Two recoveries must not work on one file. The lock is held only while the claim is written; the claim identifies its
 * holder by pid and start time, which a fork does not inherit. A file that another recovery has just finished has no
 * name. */
static int claim(ll_store *store, int fd, const outlook *before, bool other_namespaces) {
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) return EBUSY;
  const ll_file_header *header = store->header;
  struct stat status;
  int error = 0;
  if (fstat(fd, &status) != 0 || status.st_nlink == 0)
    error = ENOENT;
  else if (may_be_alive(&header->owner, &before->owner, before->users, other_namespaces) ||
           may_be_alive(&header->recoverer, &before->recoverer, before->users, other_namespaces))
    error = EBUSY;
  if (error == 0) store->header->recoverer = ll_process_self();
  flock(fd, LOCK_UN);
  return error;
}

/* In a valid file everything that it refers to is allocated. A corrupt one may have holes, where access on a full
 * filesystem raises SIGBUS. So each part is allocated before it is read: first the fixed parts, then those that the
 * header describes. */
static int fill_holes_at_start(int fd) {
  int error = ll_store_allocate(fd, 0, ll_layout_descriptors());
  return error == 0 ? ll_store_allocate(fd, ll_layout_rings(), ll_layout_slots() - ll_layout_rings()) : error;
}

static int fill_slots(const ll_store *store, int fd, uint32_t route) {
  ll_slot_range range = ll_slots_of(store, route);
  uint64_t sequence;
  const ll_slot *latest = ll_slot_latest(store, route, &sequence);
  int error = 0;
  for (uint32_t i = range.first; i < range.end && error == 0; i++) {
    uint64_t offset = (uint64_t)((const uint8_t *)ll_slot_at(store, i) - store->map);
    uint64_t bytes = (uint64_t)ll_slot_extent(store, i, latest) * LL_SLOT_BYTES;
    if (bytes > 0 && bytes <= store->bytes - offset)
      error = ll_store_allocate(fd, offset, bytes); /* else: ll_slots_fault */
  }
  return error;
}

static int fill_holes(const ll_store *store, int fd) {
  const ll_file_header *header = store->header;
  int error =
      header->descriptors_used > 0 ? ll_store_allocate(fd, ll_layout_descriptors(), header->descriptors_used) : 0;
  for (uint32_t route = 0; route < header->route_count && error == 0; route++)
    error = fill_slots(store, fd, route);
  for (uint32_t i = 0; i < header->ring_count && error == 0; i++)
    if (store->rings[i].head != store->rings[i].tail)
      error = ll_store_allocate(fd, store->rings[i].offset, store->rings[i].bytes);
  return error;
}

/* Returns NULL, or why this cannot be a ring file of this user. */
static const char *fault_from_outside(int fd, struct stat *status) {
  uint64_t magic = 0;
  if (fstat(fd, status) != 0 || !S_ISREG(status->st_mode) || status->st_uid != geteuid() ||
      (status->st_mode & 022) != 0)
    return "not a file that belongs to this user alone";
  if (status->st_size < (off_t)ll_layout_data(2 * LL_SLOT_RUN) || status->st_size > (off_t)1 << 40 ||
      pread(fd, &magic, sizeof magic, 0) != (ssize_t)sizeof magic || magic != LL_FILE_MAGIC)
    return "not a ring file";
  return NULL;
}

/* Attaches to the open file. Returns as ll_store_attach does. */
static int attach(ll_store *store, int fd, const outlook *before, bool other_namespaces, char *why, size_t why_bytes) {
  struct stat status;
  const char *fault = fault_from_outside(fd, &status);
  if (fault != NULL) {
    snprintf(why, why_bytes, "%s", fault);
    return EACCES;
  }
  store->bytes = (size_t)status.st_size;
  store->device = status.st_dev;
  store->inode = status.st_ino;
  store->crash_safe = store->in_file = true;
  int error = fill_holes_at_start(fd);
  if (error == 0) {
    store->map = mmap(NULL, store->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    error = store->map != MAP_FAILED ? 0 : errno;
  }
  if (error != 0) {
    store->map = NULL;
    snprintf(why, why_bytes, "cannot be mapped: %s", strerror(error));
    return EINVAL;
  }
  madvise(store->map, store->bytes, MADV_DONTFORK);
  ll_layout_point(store);
  error = claim(store, fd, before, other_namespaces);
  if (error != 0) {
    ll_store_unmap(store);
    return error;
  }
  fault = ll_validate_header(store);
  if (fault == NULL && (error = fill_holes(store, fd)) != 0) fault = strerror(error);
  if (fault == NULL) fault = ll_validate_contents(store);
  if (fault == NULL) return 0;
  snprintf(why, why_bytes, "%s", fault);
  ll_store_release(store);
  return EINVAL;
}

int ll_store_attach(ll_store *store, const char *path, bool other_namespaces, char *why, size_t why_bytes) {
  memset(store, 0, sizeof *store);
  store->unnamed_fd = -1;
  store->summarised = UINT64_MAX; /* what was not reported died with the process */
  snprintf(store->path, sizeof store->path, "%s", path);
  outlook before = look_from_outside(path);
  int fd = ll_open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) {
    snprintf(why, why_bytes, "%s", strerror(errno));
    return errno == ENOENT ? ENOENT : EACCES;
  }
  int error = attach(store, fd, &before, other_namespaces, why, why_bytes);
  close(fd);
  return error;
}

void ll_store_unmap(ll_store *store) {
  if (store->map != NULL) munmap(store->map, store->bytes);
  store->map = NULL;
}

/* A single word determines whether a claim is valid; nothing is touched after it is cleared. */
void ll_store_release(ll_store *store) {
  store_release(&store->header->recoverer.pid, 0);
  ll_store_unmap(store);
}

void ll_store_remove(ll_store *store) {
  ll_crash_point("finished-unremoved");
  if (store->in_file) unlink(store->path);
}

static void make_writable(uint8_t *at, size_t bytes) {
  uintptr_t begin = (uintptr_t)at & -(uintptr_t)sysconf(_SC_PAGESIZE);
  mmap((void *)begin, (uintptr_t)at + bytes - begin, PROT_READ | PROT_WRITE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

void ll_store_after_fork(ll_store *store, const ll_extent *rings, unsigned count) {
  if (store->map == NULL) return;
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (store->inherited ? MAP_FIXED : MAP_FIXED_NOREPLACE);
  void *map = mmap(store->map, store->bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (map != MAP_FAILED || errno == EEXIST) return;        /* EEXIST: the parent was forked like this, too */
  mmap(store->map, store->bytes, PROT_READ, flags, -1, 0); /* what is only read takes no memory */
  make_writable(store->map, ll_layout_rings() + LL_RINGS_MAX * sizeof(ll_ring));
  for (unsigned i = 0; i < count; i++)
    make_writable(rings[i].at, rings[i].bytes);
}
