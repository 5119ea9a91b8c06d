/* One input: bytes in which batches stand one behind the other, with or without damage between them.
 *
 * Whatever the bytes say, no more than one batch of the largest size is held here. What is no batch is passed over up
 * to the next place where one starts, and reported with its offsets, once for each such stretch.
 */
#ifndef LIFELINE_CAT_SOURCE_H
#define LIFELINE_CAT_SOURCE_H

#include <lifeline/batch.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct source source;

/* A stretch of bytes that is no batch: why the first of them is none. */
typedef struct damage {
  uint64_t from, to;
  llb_rejection why;
} damage;

typedef struct source_events {
  void (*damaged)(void *ctx, const char *name, const damage *stretch);
  void (*waits)(void *ctx); /* before a read that may take as long as somebody else likes */
  void *ctx;
} source_events;

typedef struct found_batch {
  llb_batch *batch;
  uint8_t *message; /* what the batch refers to */
  size_t size;
  uint64_t offset;
} found_batch;

/* The file, or standard input for "-". NULL with errno when it cannot be opened. The name must outlive the source. */
source *source_open(const char *name, const source_events *events);

/* The same from an open descriptor, which stays the caller's. NULL without memory. */
source *source_of(int fd, const char *name, const source_events *events);

void source_close(source *from);

/* The next batch, which belongs to the caller. False at the end; with *error set to an errno value when the input could
 * not be read or held. */
bool source_next(source *from, found_batch *found, int *error);

/* The end of the input is not its last word: a batch of which only a part is there is left for later, and after this
 * call source_next looks for more. */
void source_grows(source *from);

void found_batch_free(found_batch *found);

#endif
