/* file:///path appends batches to a file. A batch is acknowledged when written: it survives the process, not the
 * machine.
 *
 * Several writers may share the file, for example a recovery after the death of another. So every append takes the
 * lock, finds the end of the last whole batch, and truncates what a killed writer left incomplete. The descriptor is
 * not kept: see ringfile.h. A symbolic link is refused: another user who may write the folder could lead the batches
 * into any file of this one.
 */
#include "base/clock.h"
#include "base/format.h"
#include "base/low.h"
#include "plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LENGTH_AT = offsetof(ll_batch_head, total_bytes), LENGTH_END = LENGTH_AT + 4, LOCK_NS = 1000000000 };

struct ll_sink {
  const ll_sink_host *host;
  char path[PATH_MAX];
  ino_t inode;
  off_t whole; /* end of the known whole batches */
  bool written;
  bool in_trouble;
};

static ll_sink *file_open(const ll_sink_host *host, char *error, size_t error_bytes) {
  static const char scheme[] = "file://";
  const char *path = host->url + sizeof scheme - 1;
  if (strncmp(host->url, scheme, sizeof scheme - 1) != 0 || path[0] != '/' || path[1] == '\0') {
    snprintf(error, error_bytes, "the URL of a file sink must be file:///absolute/path");
    return NULL;
  }
  ll_sink *sink = calloc(1, sizeof *sink);
  if (sink == NULL) {
    snprintf(error, error_bytes, "out of memory");
    return NULL;
  }
  sink->host = host;
  snprintf(sink->path, sizeof sink->path, "%s", path);
  return sink;
}

/* Advances `whole` over batches appended by others. False: the file contains something else. */
static bool find_end(ll_sink *sink, int fd, off_t size) {
  uint8_t head[LENGTH_END];
  while (size - sink->whole >= (off_t)sizeof head) {
    uint32_t length;
    if (pread(fd, head, sizeof head, sink->whole) != (ssize_t)sizeof head) return false;
    memcpy(&length, head + LENGTH_AT, sizeof length);
    if (memcmp(head, LL_BATCH_MAGIC, 4) != 0 || length < sizeof head || length > LL_BATCH_MOST) return false;
    if (size - sink->whole < (off_t)length) break;
    sink->whole += length;
  }
  if (sink->whole == size) return true;
  size_t rest = size - sink->whole < 4 ? (size_t)(size - sink->whole) : 4;
  return pread(fd, head, rest, sink->whole) == (ssize_t)rest && memcmp(head, LL_BATCH_MAGIC, rest) == 0;
}

/* Checked before each change: a program that closes all of its descriptors and reuses their numbers for its own files
 * must not find our batches in them. */
static bool is_ours(int fd, const struct stat *file) {
  struct stat status;
  if (fstat(fd, &status) == 0 && status.st_dev == file->st_dev && status.st_ino == file->st_ino) return true;
  errno = EBADF;
  return false;
}

static bool write_all(int fd, const struct stat *file, const uint8_t *bytes, size_t count, off_t at) {
  while (count > 0) {
    if (!is_ours(fd, file)) return false;
    ssize_t written = pwrite(fd, bytes, count, at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    at += written;
    count -= (size_t)written;
  }
  return true;
}

/* Waits for a bounded time: a stopped process keeps its lock. */
static bool lock(int fd) {
  static const struct timespec moment = {0, 1000000};
  uint64_t end_ns = ll_monotonic_ns() + LOCK_NS;
  while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK || ll_monotonic_ns() >= end_ns) return false;
    nanosleep(&moment, NULL);
  }
  return true;
}

/* With the lock held. Returns NULL, or why the batch could not be appended. */
static const char *append_locked(ll_sink *sink, int fd, const struct stat *file, const uint8_t *batch, size_t bytes) {
  struct stat status;
  if (fstat(fd, &status) != 0) return strerror(errno);
  if (status.st_ino != sink->inode || status.st_size < sink->whole) sink->whole = 0;
  sink->inode = status.st_ino;
  if (!find_end(sink, fd, status.st_size)) return "it contains data that is not a batch; choose another path";
  if (!is_ours(fd, file)) return strerror(errno);
  if (sink->whole < status.st_size && ftruncate(fd, sink->whole) != 0) return strerror(errno);
  if (!write_all(fd, file, batch, bytes, sink->whole)) {
    const char *trouble = strerror(errno);
    return is_ours(fd, file) && ftruncate(fd, sink->whole) == 0 ? trouble : "a write was incomplete";
  }
  sink->whole += (off_t)bytes;
  return NULL;
}

/* Returns NULL, or why the batch could not be appended. */
static const char *append(ll_sink *sink, const uint8_t *batch, size_t bytes) {
  int fd = ll_open(sink->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
  if (fd < 0) return errno == ELOOP ? "it is a symbolic link; name the file itself" : strerror(errno);
  struct stat file = {.st_ino = 0};
  const char *trouble;
  if (fstat(fd, &file) != 0)
    trouble = strerror(errno);
  else if (!S_ISREG(file.st_mode))
    trouble = "not a regular file";
  else if (!lock(fd))
    trouble = errno == EWOULDBLOCK ? "another process has locked it for a second" : strerror(errno);
  else {
    trouble = append_locked(sink, fd, &file, batch, bytes);
    /* Unlock explicitly: a child forked meanwhile shares the descriptor, so closing ours would not release the lock. */
    if (is_ours(fd, &file)) flock(fd, LOCK_UN);
  }
  if (is_ours(fd, &file)) close(fd);
  return trouble;
}

static ll_sink_status file_send(ll_sink *sink, uint64_t token, const uint8_t *batch, size_t bytes, uint16_t route,
                                uint64_t sequence) {
  (void)route, (void)sequence;
  const char *trouble = append(sink, batch, bytes);
  if (trouble != NULL) {
    char line[PATH_MAX + 128];
    snprintf(line, sizeof line, "cannot append to %s: %s", sink->path, trouble);
    if (!sink->in_trouble) sink->host->log(sink->host->ctx, LL_SINK_ERROR, line);
    sink->in_trouble = true;
    return LL_SINK_BUSY;
  }
  sink->in_trouble = false;
  sink->written = true;
  sink->host->done(sink->host->ctx, token, LL_SINK_ACKED, NULL);
  return LL_SINK_OK;
}

static void file_poll(ll_sink *sink, int timeout_ms) {
  (void)sink, (void)timeout_ms;
}
static size_t file_max_batch_bytes(ll_sink *sink) {
  return (void)sink, LL_BATCH_MOST;
}
static void file_close(ll_sink *sink) {
  free(sink);
}
/* A folder that is missing, or forbidden, will be so in five seconds too. */
static bool file_reached(ll_sink *sink) {
  return sink->written || !sink->in_trouble;
}

const ll_sink_plugin ll_sink_file = {
    .abi = LL_SINK_ABI,
    .scheme = "file",
    .open = file_open,
    .send = file_send,
    .poll = file_poll,
    .max_batch_bytes = file_max_batch_bytes,
    .close = file_close,
    .reached = file_reached,
};
