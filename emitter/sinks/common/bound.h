/* Limit of the size of batches where the broker's own limit is not known.
 *
 * An emitter has no permission to query the settings of its stream, and that of a topic may never be answered. So
 * batches grow in steps, to at most twice the largest one that was acknowledged. Each refusal halves the limit, until
 * batches pass; it costs the refused batches, which are counted. A limit that the broker tells ends both.
 *
 * All sizes are those before compression, like the limit that a sink reports: how well the next batch will compress is
 * not known.
 */
#ifndef LIFELINE_SINK_BOUND_H
#define LIFELINE_SINK_BOUND_H

#include <stddef.h>
#include <stdint.h>

/* Zero at first. All calls are thread-safe. */
typedef struct sink_bound {
  size_t limit;        /* told, or learnt from refusals; 0: unknown */
  size_t acknowledged; /* the largest batch so far */
} sink_bound;

/* The largest batch to make next. */
size_t sink_bound_most(const sink_bound *bound);

/* The broker's limit; 0, if it does not say, changes nothing. */
void sink_bound_tell(sink_bound *bound, size_t limit);

/* A batch of this size was acknowledged, or refused as too large; 0 changes nothing. */
void sink_bound_acknowledge(sink_bound *bound, size_t bytes);
void sink_bound_refuse(sink_bound *bound, size_t bytes);

/* The size of a batch before compression. */
size_t sink_bound_bytes(const uint8_t *batch, size_t bytes);

#endif
