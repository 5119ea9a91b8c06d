#include "announce.h"

#include "directory.h"
#include "traceparent.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { CONTENT_MAX = 512 };

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

static int describe(const char *name, char *content, size_t bytes) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  int length = snprintf(content, bytes, "name=%.255s", name);
  for (char *c = content; *c != '\0'; c++)
    if ((unsigned char)*c < ' ' || *c == 0x7f) *c = '?';
  return length + snprintf(content + length, bytes - (size_t)length, "\npid=%d\nbegan=%lld%09ld\n", (int)getpid(),
                           (long long)now.tv_sec, now.tv_nsec);
}

/* Written under another name first: a reader never sees half of it. */
static bool write_file(int directory, const char *name, const char *content, size_t length) {
  char hidden[64];
  snprintf(hidden, sizeof hidden, ".%s.%d.%d", name, (int)getpid(), (int)gettid());
  int fd =
      openat(directory, hidden, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, geteuid() == 0 ? 0644 : 0600);
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

bool ll_announce(const uint8_t id[16], const char *name, char *why, size_t why_bytes) {
  char file[LL_SESSION_ID_TEXT], content[CONTENT_MAX];
  int directory = open_directory(true, why, why_bytes);
  if (directory < 0) return false;
  ll_session_id_text(id, file);
  int length = describe(name, content, sizeof content);
  bool written = write_file(directory, file, content, (size_t)length);
  if (!written) snprintf(why, why_bytes, "the session cannot be announced to this host's probe: %s", strerror(errno));
  close(directory);
  return written;
}

static bool is_ours(int directory, const char *file) {
  char content[CONTENT_MAX], mine[32];
  int fd = openat(directory, file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  ssize_t length = fd >= 0 ? read(fd, content, sizeof content - 1) : -1;
  if (fd >= 0) close(fd);
  if (length < 0) return false;
  content[length] = '\0';
  snprintf(mine, sizeof mine, "\npid=%d\n", (int)getpid());
  return strstr(content, mine) != NULL;
}

void ll_announce_end(const uint8_t id[16]) {
  char file[LL_SESSION_ID_TEXT], why[512];
  int directory = open_directory(false, why, sizeof why);
  if (directory < 0) return;
  ll_session_id_text(id, file);
  if (is_ours(directory, file)) unlinkat(directory, file, 0);
  close(directory);
}
