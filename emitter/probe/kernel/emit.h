/* From the sums and single records of a source to events. */
#ifndef KERNEL_EMIT_H
#define KERNEL_EMIT_H

#include "keymap.h"
#include "source.h"

typedef struct kernel_emitter {
  const char *source;
  unsigned views;
  uint64_t since_ns, interval_ns;
  keymap sessions; /* 16 bytes by the number of a process */
  keymap calls;    /* the three sums of an operation, until all have come */
  uint64_t lost[KERNEL_LOSSES];
  int64_t epoch_ns; /* of CLOCK_MONOTONIC, since the Unix epoch */
} kernel_emitter;

void emitter_open(kernel_emitter *made, const char *source, unsigned views);
void emitter_close(kernel_emitter *made);

/* NULL: none. Children inherit it. */
void emitter_set_session(kernel_emitter *of, uint32_t number, const uint8_t *session);

/* The views of which single events are on. */
unsigned emitter_singles(void);

/* Between these two: what the source hands over. */
void emitter_begin(kernel_emitter *to);
void emitter_end(kernel_emitter *to);

/* For kernel_taker; `ctx` is the kernel_emitter. */
void emitter_process(void *ctx, uint32_t number, const struct kernel_process *process);
void emitter_ended(void *ctx, uint32_t number);
void emitter_sum(void *ctx, const struct kernel_process *process, const struct kernel_key *key, const kernel_sum *sum);
void emitter_single(void *ctx, const struct kernel_process *process, const struct kernel_single *single);

/* Emits the counters of what was lost, if they have changed. */
void emitter_losses(kernel_emitter *to, const uint64_t lost[KERNEL_LOSSES]);

#endif
