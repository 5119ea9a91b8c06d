#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROOM = 16 * 1024, ROOM_MAX = 8 << 20 };

static char *buffer;
static size_t room;

/* The kernel makes the text during the first read: a second one from the start is another sample. So a text that does
 * not fit is read again as a whole, into twice the room. */
static char *read_all(int fd, size_t most) {
  for (;;) {
    if (room == 0 || buffer == NULL) {
      buffer = malloc(ROOM);
      if (buffer == NULL) return NULL;
      room = ROOM;
    }
    size_t size = 0;
    ssize_t got = 0;
    while (size < room - 1 && (got = pread(fd, buffer + size, room - 1 - size, (off_t)size)) > 0)
      size += (size_t)got;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return NULL;
    if (size < room - 1 || room >= most) {
      buffer[size] = '\0';
      return buffer;
    }
    char *larger = realloc(buffer, room * 2);
    if (larger == NULL) return NULL;
    buffer = larger;
    room *= 2;
  }
}

char *file_read_at_most(int fd, size_t bytes) {
  return read_all(fd, bytes);
}

char *file_read(int directory, const char *path) {
  int fd = openat(directory, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return NULL;
  char *text = read_all(fd, ROOM_MAX);
  int error = errno;
  close(fd);
  errno = error;
  return text;
}

char *file_read_again(int directory, kernel_file *file) {
  if (file->fd < 0) file->fd = openat(directory, file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  return file->fd < 0 ? NULL : read_all(file->fd, ROOM_MAX);
}
