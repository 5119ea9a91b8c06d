/* One input: a byte stream of concatenated batches, possibly with damage between them.
 *
 * Memory is bounded by one batch of the largest size, whatever the input. Bytes that are no batch are skipped up to the
 * next possible start of one, and reported with their offsets, once per range.
 */
#ifndef LIFELINE_CAT_SOURCE_H
#define LIFELINE_CAT_SOURCE_H

#include <lifeline/batch.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct source source;

/* A range of bytes that is no batch. why: reason for the first byte. */
typedef struct damage {
  uint64_t from, to;
  llb_rejection why;
} damage;

typedef struct source_events {
  void (*damaged)(void *ctx, const char *name, const damage *stretch);
  void (*waits)(void *ctx); /* called before a read that may block */
  void *ctx;
} source_events;

typedef struct found_batch {
  llb_batch *batch;
  uint8_t *message; /* the batch points into it */
  size_t size;
  uint64_t offset;
} found_batch;

/* Opens the file, or standard input for "-". NULL with errno if it cannot be opened. The name must outlive the
 * source. */
source *source_open(const char *name, const source_events *events);

/* The same for an open descriptor, which the caller closes. NULL if out of memory. */
source *source_of(int fd, const char *name, const source_events *events);

void source_close(source *from);

/* Returns the next batch, owned by the caller. False at the end, with *error set to an errno value if the input could
 * not be read or buffered. */
bool source_next(source *from, found_batch *found, int *error);

/* The input may grow: an incomplete batch at the end is kept, and the next call of source_next reads on. */
void source_grows(source *from);

void found_batch_free(found_batch *found);

#endif
