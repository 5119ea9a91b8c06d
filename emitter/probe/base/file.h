/* Reads files of /proc and /sys: small, and made anew at each read. */
#ifndef LIFELINE_PROBE_FILE_H
#define LIFELINE_PROBE_FILE_H

#include <stddef.h>

/* A file that is read again and again, relative to a directory that outlives it. Start with {path, -1}. */
typedef struct kernel_file {
  const char *path;
  int fd;
} kernel_file;

/* Both return the text, closed by a 0 and valid until the next call, or NULL with errno. At most 8 MiB are read. */
char *file_read(int directory, const char *path);
char *file_read_again(int directory, kernel_file *file);

/* The same, of a file that is opened safely: no link at the end of the path, only a regular file. */
char *file_read_at_most(int fd, size_t bytes);

#endif
