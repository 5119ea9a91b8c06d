/* What the emit path does with the events of a shaped type. Made by resolution.c, never changed, and read without a
 * lock by threads that are busy (ll_producer.busy); replaced ones go back to retire.c, once nobody reads them.
 */
#ifndef LIFELINE_SHAPING_H
#define LIFELINE_SHAPING_H

#include "base/atomics.h"
#include "rules.h"

typedef struct ll_shaping {
  ll_bounds threshold; /* of the kind none: everything passes */
  int64_t *allowance;  /* what is left of this second's events; NULL: without end */
  uint32_t sample;     /* one of so many */
  uint16_t route;
  uint8_t field; /* the threshold's */
  bool summary;
  struct ll_shaping *next; /* of those that nobody uses, or that were replaced. The last member: it is not compared */
} ll_shaping;

/* By type number. NULL where nothing needs to be asked, also of a type that was shaped a moment ago. */
extern ll_shaping **ll_shapings;

static inline const ll_shaping *ll_shaping_of(uint32_t number) {
  return load_acquire(&ll_shapings[number]);
}

#endif
