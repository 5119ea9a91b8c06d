/* Reads back what a run emitted, wherever it went, and adds it up: nothing is taken on the emitter's word. */
#ifndef BENCH_READBACK_H
#define BENCH_READBACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tally {
  const char *program; /* batches of others are passed over; NULL: there are none */
  uint64_t events, batches, bytes;
  uint64_t sum;       /* of the first field, the serial */
  uint64_t emitted;   /* as the last counters say */
  uint64_t dropped;   /* likewise */
  uint64_t sequences; /* sum of all sequences: each batch came once when it is n * (n + 1) / 2 */
  bool final;
} tally;

/* False: it is no batch, and why was printed. */
bool tally_batch(tally *counted, const void *message, size_t bytes);

/* Each reads until FINAL came, or nothing for ten seconds. False: trouble, and why was printed. */
bool readback_file(tally *counted, const char *path);
bool readback_nats(tally *counted, const char *url);
bool readback_kafka(tally *counted, const char *url);

#endif
