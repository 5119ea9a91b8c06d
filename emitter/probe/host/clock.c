/* What the kernel believes about its own clock, and the steps that the clock makes. */
#include "host.h"

#include "base/say.h"

#include <lifeline/events.h>

#include <errno.h>
#include <string.h>
#include <sys/timex.h>
#include <time.h>

static int64_t ns_of(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* CLOCK_REALTIME - CLOCK_MONOTONIC changes by steps only: both are slewed alike. The narrowest of five brackets. */
static int64_t realtime_offset(void) {
  int64_t offset = 0, width = INT64_MAX;
  for (int i = 0; i < 5; i++) {
    int64_t before = ns_of(CLOCK_MONOTONIC), realtime = ns_of(CLOCK_REALTIME), after = ns_of(CLOCK_MONOTONIC);
    if (after - before >= width) continue;
    width = after - before;
    offset = realtime - before - width / 2;
  }
  return offset;
}

bool host_clock_sample(void *ctx, uint64_t now_ns) {
  static int64_t earlier;
  struct timex kernel = {.modes = 0};
  (void)ctx, (void)now_ns;
  if (!ll_event_is_on(host_clock)) return true;
  int state = adjtimex(&kernel);
  if (state < 0) {
    SAY_ONCE("the kernel's clock cannot be asked: %s; host.clock is not emitted", strerror(errno));
    return false;
  }
  int64_t offset = realtime_offset(), step = earlier != 0 ? offset - earlier : 0;
  earlier = offset;
  if (step > -10000 && step < 10000) step = 0; /* the error of two brackets */
  int64_t unit = kernel.status & STA_NANO ? 1 : 1000;
  ll_emit(host_clock, state != TIME_ERROR && !(kernel.status & STA_UNSYNC), kernel.offset * unit,
          (uint64_t)kernel.maxerror * 1000, (uint64_t)kernel.esterror * 1000, (double)kernel.freq / 65536.0, step);
  return true;
}
