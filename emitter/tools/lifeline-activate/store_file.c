/* Activations in a trigger file: ACTIVATION.md, section 2. The file is replaced by a rename, so that no emitter sees a
 * part of it. Comments and other lines are preserved. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store.h"

enum { MOST_BYTES = 65536, MOST_LINES = MOST_BYTES / 2 };

struct store {
  char path[PATH_MAX];
  char text[MOST_BYTES + 1];
  char *lines[MOST_LINES];
  size_t count;
  int directory; /* locked against other instances of this tool */
};

static bool fail(char error[ERROR_BYTES], const char *path, const char *why) {
  snprintf(error, ERROR_BYTES, "the trigger file %s: %s", path, why);
  return false;
}

static bool is_activation(const char *line) {
  return line && *line && *line != '#';
}

/* The value of the option id=, or "line N", the emitter's name for it. */
static void id_of(const store *s, size_t index, char *id, size_t bytes) {
  const char *line = s->lines[index], *found = NULL;
  for (const char *at = line; (at = strstr(at, "id=")); at++)
    if (at > line && strchr(" \t", at[-1])) found = at + strlen("id=");
  if (found)
    snprintf(id, bytes, "%.*s", (int)strcspn(found, " \t\r"), found);
  else
    snprintf(id, bytes, "line %zu", index + 1);
}

static bool load(store *s, char error[ERROR_BYTES]) {
  struct stat status;
  int file = open(s->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return errno == ENOENT || fail(error, s->path, strerror(errno));
  bool good = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  ssize_t size = good ? read(file, s->text, sizeof s->text) : -1;
  close(file);
  if (!good) return fail(error, s->path, "is not a regular file");
  if (size < 0 || size > MOST_BYTES) return fail(error, s->path, size < 0 ? strerror(errno) : "is larger than 64 KiB");
  s->text[size] = 0;
  for (char *rest = s->text, *line; (line = strsep(&rest, "\n"));)
    if (s->count < MOST_LINES && (rest || *line)) s->lines[s->count++] = line;
  if (s->count && strcmp(s->lines[s->count - 1], "end") == 0)
    s->count--;
  else if (size > 0)
    return fail(error, s->path, "does not end with the line \"end\": is it being written?");
  return true;
}

static store *file_open(const char *url, char error[ERROR_BYTES]) {
  store *s = calloc(1, sizeof *s);
  char directory[PATH_MAX];
  if (!s) return NULL;
  s->directory = -1;
  snprintf(s->path, sizeof s->path, "%s", strncmp(url, "file://", 7) == 0 ? url + 7 : url);
  snprintf(directory, sizeof directory, "%s", s->path);
  s->directory = open(dirname(directory), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (s->directory < 0 || flock(s->directory, LOCK_EX) != 0)
    fail(error, s->path, strerror(errno));
  else if (load(s, error))
    return s;
  if (s->directory >= 0) close(s->directory);
  free(s);
  return NULL;
}

static bool file_read(store *s, activations *all, char error[ERROR_BYTES]) {
  (void)error;
  char id[256];
  for (size_t i = 0; i < s->count; i++)
    if (is_activation(s->lines[i])) {
      id_of(s, i, id, sizeof id);
      activations_put(all, id, strlen(id), s->lines[i], strlen(s->lines[i]));
    }
  return true;
}

static bool write_lines(const store *s, FILE *file, const char *added) {
  for (size_t i = 0; i < s->count; i++)
    if (s->lines[i]) fprintf(file, "%s\n", s->lines[i]);
  if (added) fprintf(file, "%s\n", added);
  fputs("end\n", file);
  return fflush(file) == 0 && ftell(file) <= MOST_BYTES && fsync(fileno(file)) == 0;
}

static bool replace(const store *s, const char *added, char error[ERROR_BYTES]) {
  char path[PATH_MAX + 16];
  struct stat status;
  snprintf(path, sizeof path, "%s.XXXXXX", s->path);
  int descriptor = mkostemp(path, O_CLOEXEC);
  FILE *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
  if (!file) return fail(error, s->path, strerror(errno));
  if (lstat(s->path, &status) == 0) fchmod(descriptor, status.st_mode & 0755); /* never writable by group or others */
  errno = EFBIG;
  bool good = write_lines(s, file, added) && rename(path, s->path) == 0;
  int why = errno;
  fclose(file);
  if (good) return true;
  unlink(path);
  return fail(error, s->path, strerror(why));
}

/* Index of the line with this id, or s->count. */
static size_t find(const store *s, const char *id) {
  char found[256];
  for (size_t i = 0; i < s->count; i++) {
    if (!is_activation(s->lines[i])) continue;
    id_of(s, i, found, sizeof found);
    if (strcmp(found, id) == 0) return i;
  }
  return s->count;
}

static bool file_put(store *s, const char *id, const char *line, char error[ERROR_BYTES]) {
  size_t at = find(s, id);
  if (at == s->count) return replace(s, line, error);
  char *before = s->lines[at];
  s->lines[at] = strdup(line);
  bool good = s->lines[at] ? replace(s, NULL, error) : fail(error, s->path, "out of memory");
  free(s->lines[at]);
  s->lines[at] = before;
  return good;
}

static bool file_remove(store *s, const char *id, char error[ERROR_BYTES]) {
  size_t at = find(s, id);
  if (at < s->count) s->lines[at] = NULL;
  return replace(s, NULL, error);
}

static void file_close(store *s) {
  close(s->directory);
  free(s);
}

const store_kind store_file = {.open = file_open,
                               .read = file_read,
                               .put = file_put,
                               .remove = file_remove,
                               .close = file_close,
                               .id_in_line = true};
