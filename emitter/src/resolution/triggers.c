#include "triggers.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/low.h"
#include "resolution.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

enum { BYTES_MAX = 65536, RECENT_S = 2 };

/* Detects changes of the file without reading it. */
typedef struct looks {
  dev_t device;
  ino_t inode;
  off_t bytes;
  uid_t owner;
  mode_t mode;
  struct timespec modified, changed;
} looks;

static const char *path;
static uint64_t due_ns = UINT64_MAX;
static looks seen;
static bool settled;             /* any further change will change `seen` */
static bool was_there;           /* at the last check */
static char text[BYTES_MAX + 1]; /* at the last check */
static size_t text_bytes;
static bool text_is_known;
static bool incomplete_untold; /* "end" is missing, not reported yet: the file may still be being written */

static void complain(const char *why) {
  ll_log(LL_LOG_WARN, "trigger file %s is ignored and its previous contents stay in force: %s", path, why);
}

static looks looks_of(const struct stat *status) {
  return (looks){.device = status->st_dev,
                 .inode = status->st_ino,
                 .bytes = status->st_size,
                 .owner = status->st_uid,
                 .mode = status->st_mode,
                 .modified = status->st_mtim,
                 .changed = status->st_ctim};
}

static bool are_same_time(struct timespec one, struct timespec other) {
  return one.tv_sec == other.tv_sec && one.tv_nsec == other.tv_nsec;
}

static bool are_same(const looks *one, const looks *other) {
  return one->device == other->device && one->inode == other->inode && one->bytes == other->bytes &&
         one->owner == other->owner && one->mode == other->mode && are_same_time(one->modified, other->modified) &&
         are_same_time(one->changed, other->changed);
}

/* File timestamps have a limited resolution: a file that was just written may change again without a visible
 * difference. */
static bool is_settled(const struct stat *status) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec - status->st_mtim.tv_sec > RECENT_S && now.tv_sec - status->st_ctim.tv_sec > RECENT_S;
}

static const char *fault_of(const struct stat *status) {
  if (S_ISLNK(status->st_mode)) return "it is a link";
  if (!S_ISREG(status->st_mode)) return "it is not a regular file";
  if (status->st_uid != geteuid()) return "it does not belong to this user";
  if ((status->st_mode & 022) != 0) return "other users can write to it (run chmod go-w)";
  if (status->st_size > BYTES_MAX) return "it has more than 65,536 bytes";
  return NULL;
}

/* Reads the whole file into `into`. Returns NULL, or the fault. The file may have been replaced since it was
 * checked. */
static const char *read_file(char *into, size_t *bytes) {
  int fd = ll_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return strerror(errno);
  struct stat status;
  const char *fault = fstat(fd, &status) == 0 ? fault_of(&status) : strerror(errno);
  ssize_t got = 0;
  for (*bytes = 0; fault == NULL && *bytes <= BYTES_MAX; *bytes += (size_t)got) {
    got = read(fd, into + *bytes, BYTES_MAX + 1 - *bytes);
    if (got < 0 && errno == EINTR)
      got = 0;
    else if (got < 0)
      fault = strerror(errno);
    else if (got == 0)
      break;
  }
  close(fd);
  if (fault == NULL && *bytes > BYTES_MAX) fault = "it has more than 65,536 bytes";
  return fault;
}

/* Reduces the length by the last line, which must be `end`. */
static bool find_end(const char *of, size_t *bytes) {
  static const char end[] = "end\n";
  const size_t length = sizeof end - 1;
  if (*bytes < length || memcmp(of + *bytes - length, end, length) != 0) return false;
  if (*bytes > length && of[*bytes - length - 1] != '\n') return false;
  *bytes -= length;
  return true;
}

static void take(void) {
  char why[512];
  size_t bytes = text_bytes;
  incomplete_untold = !find_end(text, &bytes);
  if (incomplete_untold) return; /* it may still be being written: check again */
  if (ll_resolution_file(text, bytes, why, sizeof why))
    ll_log(LL_LOG_INFO, "trigger file %s is in force", path);
  else
    complain(why);
}

static void read_and_take(bool same) {
  static char fresh[BYTES_MAX + 1];
  size_t bytes = 0;
  const char *fault = read_file(fresh, &bytes);
  if (fault != NULL) {
    if (!same) complain(fault);
    return;
  }
  if (text_is_known && bytes == text_bytes && memcmp(fresh, text, bytes) == 0) {
    if (incomplete_untold) complain("its last line is not \"end\", so it is considered incomplete");
    incomplete_untold = false;
    return;
  }
  memcpy(text, fresh, bytes);
  text_bytes = bytes;
  text_is_known = true;
  take();
}

static void file_is_gone(void) {
  char why[256];
  if (was_there) ll_log(LL_LOG_INFO, "trigger file %s was removed; its activations have ended", path);
  if (was_there) ll_resolution_file("", 0, why, sizeof why);
  was_there = text_is_known = incomplete_untold = false;
  memset(&seen, 0, sizeof seen);
}

static void look(void) {
  struct stat status;
  if (lstat(path, &status) != 0) {
    if (errno == ENOENT) file_is_gone();
    return;
  }
  was_there = true;
  looks now = looks_of(&status);
  bool same = are_same(&now, &seen);
  if (same && settled && !incomplete_untold) return;
  seen = now;
  settled = is_settled(&status);
  const char *fault = fault_of(&status);
  if (fault == NULL)
    read_and_take(same);
  else if (!same)
    complain(fault);
}

void ll_triggers_begin(const char *file) {
  path = file;
  due_ns = UINT64_MAX;
  was_there = text_is_known = incomplete_untold = settled = false;
  memset(&seen, 0, sizeof seen);
  if (*path == '\0') return;
  look();
  due_ns = ll_monotonic_ns() + SECOND;
}

void ll_triggers_tick(void) {
  uint64_t now_ns = ll_monotonic_ns();
  if (now_ns < due_ns) return;
  look();
  due_ns = now_ns + SECOND;
}

uint64_t ll_triggers_due_ns(void) {
  return due_ns;
}
