/* How large a message may be, learnt from one that was refused.
 *
 * An emitter may not ask a broker for the settings of its stream or topic. So the batches to come are half of what was
 * refused, and again half, until they pass: a bound that was lowered costs a few batches, which are counted.
 */
#ifndef LIFELINE_SINK_BOUND_H
#define LIFELINE_SINK_BOUND_H

#include <stddef.h>

/* Lowers *bound (0: nothing is known) after a batch of this size was refused. Any thread. */
void sink_bound_learn(size_t *bound, size_t refused);

#endif
