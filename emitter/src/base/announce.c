#include "announce.h"

#include "directory.h"
#include "low.h"
#include "traceparent.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { CONTENT_MAX = 512, NAMES_MAX = 4096 };

/* Root's sessions are public on the host, so that a probe with fewer rights sees them. */
static mode_t directory_mode(void) {
  return geteuid() == 0 ? 0755 : 0700;
}

static bool fits(int length, size_t bytes) {
  return length > 0 && (size_t)length < bytes;
}

/* The path of the directory, and of the one that holds it if that may have to be created. A relative path would be
 * another one when the session ends. */
static bool paths(char *directory, char *above, size_t bytes) {
  const char *given = secure_getenv("LIFELINE_SESSION_DIR"), *runtime = secure_getenv("XDG_RUNTIME_DIR");
  *above = '\0';
  if (given != NULL && *given != '\0') return *given == '/' && fits(snprintf(directory, bytes, "%s", given), bytes);
  int length;
  if (geteuid() == 0)
    length = snprintf(above, bytes, "/run/lifeline");
  else if (runtime != NULL && *runtime == '/')
    length = snprintf(above, bytes, "%s/lifeline", runtime);
  else
    length = snprintf(above, bytes, "/dev/shm/lifeline-%u", (unsigned)geteuid());
  return fits(length, bytes) && fits(snprintf(directory, bytes, "%s/sessions", above), bytes);
}

static int open_checked(const char *path, bool make, char *why, size_t why_bytes) {
  if (make && mkdir(path, directory_mode()) == 0) chmod(path, directory_mode()); /* whatever the umask */
  return ll_directory_open(path, "session", make, why, why_bytes);
}

static int open_directory(bool make, char *why, size_t why_bytes) {
  char directory[PATH_MAX], above[PATH_MAX];
  if (!paths(directory, above, sizeof directory)) {
    snprintf(why, why_bytes, "LIFELINE_SESSION_DIR must be an absolute path of less than %d bytes", PATH_MAX);
    return -1;
  }
  if (*above != '\0') {
    int fd = open_checked(above, make, why, why_bytes);
    if (fd < 0) return -1;
    close(fd);
  }
  return open_checked(directory, make, why, why_bytes);
}

/* In which a pid means this process; 0: unknown. Not of "self", whose main thread may have ended. */
static unsigned long long pid_namespace(void) {
  struct stat status;
  return stat("/proc/thread-self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

static int describe(const char *name, char *content, size_t bytes) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  int length = snprintf(content, bytes, "name=%.255s", name);
  for (char *c = content; *c != '\0'; c++)
    if ((unsigned char)*c < ' ' || *c == 0x7f) *c = '?';
  return length + snprintf(content + length, bytes - (size_t)length, "\npid=%d\nbegan=%lld%09ld\nnamespace=%llu\n",
                           (int)getpid(), (long long)now.tv_sec, now.tv_nsec, pid_namespace());
}

/* Written under another name first: a reader never sees half of it. */
static bool write_file(int directory, const char *name, const char *content, size_t length) {
  char hidden[64];
  snprintf(hidden, sizeof hidden, ".%s.%d.%d", name, (int)getpid(), (int)gettid());
  int fd =
      ll_openat(directory, hidden, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, geteuid() == 0 ? 0644 : 0600);
  if (fd < 0) return false;
  bool written = write(fd, content, length) == (ssize_t)length;
  if (geteuid() == 0) written &= fchmod(fd, 0644) == 0;
  int error = errno;
  close(fd);
  if (written && renameat(directory, hidden, directory, name) == 0) return true;
  if (written) error = errno;
  unlinkat(directory, hidden, 0);
  errno = error;
  return false;
}

/* The text of a file of this user's; false for any other. */
static bool read_own(int directory, const char *file, char content[CONTENT_MAX]) {
  struct stat status;
  int fd = ll_openat(directory, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return false;
  bool good = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid();
  ssize_t length = good ? read(fd, content, CONTENT_MAX - 1) : -1;
  close(fd);
  content[length > 0 ? length : 0] = '\0';
  return length > 0;
}

static unsigned long long number_in(const char *content, const char *key) {
  const char *line = strstr(content, key);
  return line != NULL ? strtoull(line + strlen(key), NULL, 10) : 0;
}

/* Of the process of this PID namespace that wrote the file; 0 for any other file. */
static pid_t writer_of(int directory, const char *file, unsigned long long here) {
  char content[CONTENT_MAX];
  if (here == 0 || !read_own(directory, file, content) || number_in(content, "\nnamespace=") != here) return 0;
  unsigned long long pid = number_in(content, "\npid=");
  return pid <= INT_MAX ? (pid_t)pid : 0;
}

static bool is_gone(pid_t pid) {
  return kill(pid, 0) != 0 && errno == ESRCH;
}

/* Removes what killed processes of this user have left. */
static void remove_dead(int directory) {
  unsigned long long here = pid_namespace();
  uint8_t id[16];
  int fd = here != 0 ? ll_openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  DIR *all = fd >= 0 ? fdopendir(fd) : NULL;
  if (all == NULL && fd >= 0) close(fd);
  unsigned names = 0;
  for (struct dirent *entry; all != NULL && names < NAMES_MAX && (entry = readdir(all)) != NULL; names++)
    if (ll_session_id_parse(entry->d_name, strlen(entry->d_name), id)) {
      pid_t writer = writer_of(directory, entry->d_name, here);
      if (writer != 0 && is_gone(writer)) unlinkat(directory, entry->d_name, 0);
    }
  if (all != NULL) closedir(all);
}

bool ll_announce(const uint8_t id[16], const char *name, char *why, size_t why_bytes) {
  static bool has_removed; /* once per process is enough */
  char file[LL_SESSION_ID_TEXT], content[CONTENT_MAX];
  int directory = open_directory(true, why, why_bytes);
  if (directory < 0) return false;
  ll_session_id_text(id, file);
  int length = describe(name, content, sizeof content);
  if (!__atomic_exchange_n(&has_removed, true, __ATOMIC_RELAXED)) remove_dead(directory);
  /* Of the processes of a trace the first announces it: its file is not the second one's to remove. */
  pid_t writer = writer_of(directory, file, pid_namespace());
  bool written =
      (writer != 0 && writer != getpid() && !is_gone(writer)) || write_file(directory, file, content, (size_t)length);
  if (!written) snprintf(why, why_bytes, "the session cannot be announced to this host's probe: %s", strerror(errno));
  close(directory);
  return written;
}

static bool is_ours(int directory, const char *file) {
  char content[CONTENT_MAX];
  return read_own(directory, file, content) && number_in(content, "\npid=") == (unsigned long long)getpid();
}

void ll_announce_end(const uint8_t id[16]) {
  char file[LL_SESSION_ID_TEXT], why[512];
  int directory = open_directory(false, why, sizeof why);
  if (directory < 0) return;
  ll_session_id_text(id, file);
  if (is_ours(directory, file)) unlinkat(directory, file, 0);
  close(directory);
}
