/* How the emit path treats the events of a shaped type. Created by resolution.c, immutable, and read without a lock by
 * threads that are busy (ll_producer.busy). Replaced shapings are freed by retire.c once no thread reads them. */
#ifndef LIFELINE_SHAPING_H
#define LIFELINE_SHAPING_H

#include "base/atomics.h"
#include "rules.h"

typedef struct ll_shaping {
  ll_bounds threshold; /* of kind LL_KIND_NONE: everything passes */
  int64_t *allowance;  /* remaining events of this second; NULL: unlimited */
  uint32_t sample;     /* one event of so many */
  uint16_t route;
  uint8_t field; /* the threshold's field */
  bool summary;
  struct ll_shaping *next; /* in a list of free or retired shapings. Last member: excluded from comparison */
} ll_shaping;

/* By type number. NULL if no decision is needed, also for a type that was shaped until just now. */
extern ll_shaping **ll_shapings;

static inline const ll_shaping *ll_shaping_of(uint32_t number) {
  return load_acquire(&ll_shapings[number]);
}

#endif
