/* The command line. */
#ifndef REMOTE_COPY_OPTIONS_H
#define REMOTE_COPY_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

struct options {
  bool serve; /* otherwise: send */
  bool json;
  bool direct_io;
  unsigned block_bytes;
  unsigned queue_blocks;
  int timeout_seconds;

  /* send */
  const char *to;
  char **files; /* owned */
  size_t file_count;

  /* serve */
  const char *listen;
  const char *into;
  const char *through;
  bool once;
};

/* Exits by itself only for --help (0) and for a command line that makes no sense (2). */
void options_parse(struct options *options, int argc, char **argv);
void options_free(struct options *options);

#endif
