#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  LEAST_BYTES = 100, /* header and CRC */
  READ_BYTES = 256 << 10,
  BUFFER_BYTES = LLB_MAX_BATCH_BYTES + READ_BYTES,
};

static const uint8_t MAGIC[4] = {0x89, 'L', 'L', 'B'};

struct source {
  const char *name;
  const source_events *events;
  int fd;
  bool owns_fd, regular, at_end, growing;
  bool damaged; /* a damaged range is open */
  damage stretch;
  uint64_t offset; /* of the first unread byte */
  size_t begin, end;
  uint8_t buffer[BUFFER_BYTES];
};

source *source_of(int fd, const char *name, const source_events *events) {
  source *from = malloc(sizeof *from);
  struct stat status;
  if (!from) return NULL;
  memset(from, 0, offsetof(source, buffer));
  from->name = name;
  from->events = events;
  from->fd = fd;
  from->regular = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  return from;
}

source *source_open(const char *name, const source_events *events) {
  if (strcmp(name, "-") == 0) return source_of(STDIN_FILENO, name, events);
  int fd = open(name, O_RDONLY | O_CLOEXEC);
  source *from = fd >= 0 ? source_of(fd, name, events) : NULL;
  if (from)
    from->owns_fd = true;
  else if (fd >= 0)
    close(fd);
  return from;
}

void source_close(source *from) {
  if (!from) return;
  if (from->owns_fd) close(from->fd);
  free(from);
}

void source_grows(source *from) {
  from->growing = true;
  from->at_end = false;
}

/* Reads until this many bytes are buffered, or the input ends. Returns 0 or an errno value. */
static int fill(source *from, size_t wanted) {
  if (from->begin > 0 && BUFFER_BYTES - from->begin < wanted) {
    memmove(from->buffer, from->buffer + from->begin, from->end - from->begin);
    from->end -= from->begin;
    from->begin = 0;
  }
  while (!from->at_end && from->end - from->begin < wanted) {
    size_t room = BUFFER_BYTES - from->end;
    if (!from->regular && from->events->waits) from->events->waits(from->events->ctx);
    ssize_t count = read(from->fd, from->buffer + from->end, room < READ_BYTES ? room : READ_BYTES);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    from->at_end = count == 0;
    from->end += (size_t)count;
  }
  return 0;
}

static void advance(source *from, size_t bytes) {
  from->begin += bytes;
  from->offset += bytes;
}

static void open_stretch(source *from, const llb_rejection *why) {
  if (from->damaged) return;
  from->damaged = true;
  from->stretch = (damage){from->offset, from->offset, *why};
}

static void close_stretch(source *from) {
  if (!from->damaged) return;
  from->damaged = false;
  from->stretch.to = from->offset;
  if (from->events->damaged) from->events->damaged(from->events->ctx, from->name, &from->stretch);
}

/* Skips to the next magic, or the beginning of one at the buffer's end. */
static void skip_to_magic(source *from) {
  advance(from, 1);
  const uint8_t *at = from->buffer + from->begin;
  size_t left = from->end - from->begin;
  const uint8_t *magic = memmem(at, left, MAGIC, sizeof MAGIC);
  size_t keep = sizeof MAGIC - 1 < left ? sizeof MAGIC - 1 : left; /* the buffer may end inside a magic */
  if (from->at_end && !magic) keep = 0;
  advance(from, magic ? (size_t)(magic - at) : left - keep);
}

/* Reads a batch from a copy of these bytes. NULL with the reason if they are none. */
static llb_batch *take(const source *from, size_t size, uint8_t **message, llb_rejection *why) {
  *message = malloc(size);
  if (!*message) {
    why->code = LLB_NO_MEMORY;
    return NULL;
  }
  memcpy(*message, from->buffer + from->begin, size);
  llb_batch *batch = llb_read(*message, size, why);
  if (!batch) free(*message);
  return batch;
}

bool source_next(source *from, found_batch *found, int *error) {
  for (;;) {
    if ((*error = fill(from, LEAST_BYTES)) != 0) return false;
    const uint8_t *at = from->buffer + from->begin;
    size_t frame = llb_frame_bytes(at, from->end - from->begin);
    bool possible = frame >= LEAST_BYTES && frame <= LLB_MAX_BATCH_BYTES;
    if (possible && (*error = fill(from, frame)) != 0) return false;
    size_t left = from->end - from->begin;
    if (left == 0) break;
    llb_rejection why;
    uint8_t *message = NULL;
    llb_batch *batch = possible && frame <= left
                           ? take(from, frame, &message, &why)
                           : llb_read(from->buffer + from->begin, left, &why); /* for the reason */
    if (batch) {
      close_stretch(from);
      *found = (found_batch){batch, message, frame, from->offset};
      advance(from, frame);
      return true;
    }
    if (why.code == LLB_NO_MEMORY) {
      *error = ENOMEM;
      return false;
    }
    if (from->growing && from->at_end && why.code == LLB_TRUNCATED) return false; /* the rest may follow */
    open_stretch(from, &why);
    skip_to_magic(from);
  }
  close_stretch(from);
  return false;
}

void found_batch_free(found_batch *found) {
  llb_batch_free(found->batch);
  free(found->message);
  *found = (found_batch){0};
}
