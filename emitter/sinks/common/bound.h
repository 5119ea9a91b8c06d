/* Limit of the message size, learnt from refused messages.
 *
 * An emitter has no permission to query the settings of its stream or topic. So each refusal halves the batch size,
 * until batches pass. After an operator lowered the limit this costs a few batches, which are counted.
 */
#ifndef LIFELINE_SINK_BOUND_H
#define LIFELINE_SINK_BOUND_H

#include <stddef.h>

/* Lowers *bound (0: unknown) after a batch of this size was refused. Thread-safe. */
void sink_bound_learn(size_t *bound, size_t refused);

#endif
