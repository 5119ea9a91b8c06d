/* Reads back the emitted events from their destination, and sums them up, to verify the emitter's own counters. */
#ifndef BENCH_READBACK_H
#define BENCH_READBACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tally {
  const char *program; /* skip batches of other programs; NULL: skip none */
  uint64_t events, batches, bytes;
  uint64_t sum;       /* of the first field, the serial */
  uint64_t emitted;   /* from the counters of the last batch */
  uint64_t dropped;   /* likewise */
  uint64_t sequences; /* sum of all sequences: n * (n + 1) / 2 if each batch came once */
  bool final;
} tally;

/* Returns false, and prints why, if it is no batch. */
bool tally_batch(tally *counted, const void *message, size_t bytes);

/* Read until FINAL, or until nothing came for ten seconds. Return false, and print why, on errors. */
bool readback_file(tally *counted, const char *path);
bool readback_nats(tally *counted, const char *url);
bool readback_kafka(tally *counted, const char *url);

#endif
