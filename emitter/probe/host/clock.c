/* What the kernel believes about its own clock, and the steps that the clock makes. */
#include "host.h"

#include "base/clock.h"
#include "base/say.h"

#include <lifeline/events.h>

#include <errno.h>
#include <string.h>
#include <sys/timex.h>

static int64_t ns_of(clockid_t clock) {
  return (int64_t)ll_now_ns(clock);
}

typedef struct difference {
  int64_t ns, error_ns;
} difference;

/* CLOCK_REALTIME - CLOCK_BOOTTIME changes by steps only: both are slewed alike, and go on while the machine is
 * suspended. The narrowest of five brackets. */
static difference realtime_offset(void) {
  difference best = {0, INT64_MAX};
  for (int i = 0; i < 5; i++) {
    int64_t before = ns_of(CLOCK_BOOTTIME), realtime = ns_of(CLOCK_REALTIME), after = ns_of(CLOCK_BOOTTIME);
    int64_t half = (after - before) / 2 + 1;
    if (half < best.error_ns) best = (difference){realtime - before - half, half};
  }
  return best;
}

/* Of less than 10 us, or than the error of the two measurements, nothing is known. */
static int64_t step_between(difference earlier, difference now) {
  int64_t step = now.ns - earlier.ns, unknown = earlier.error_ns + now.error_ns + 10000;
  return step > unknown || step < -unknown ? step : 0;
}

bool host_clock_sample(void *ctx, uint64_t now_ns) {
  static difference earlier;
  struct timex kernel = {.modes = 0};
  (void)ctx, (void)now_ns;
  if (!ll_event_is_on(host_clock)) return true;
  int state = adjtimex(&kernel);
  if (state < 0) {
    SAY_ONCE("the kernel's clock cannot be asked: %s; host.clock is not emitted", strerror(errno));
    return false;
  }
  difference now = realtime_offset();
  int64_t step = earlier.error_ns > 0 ? step_between(earlier, now) : 0;
  earlier = now;
  int64_t unit = kernel.status & STA_NANO ? 1 : 1000;
  ll_emit(host_clock, state != TIME_ERROR && !(kernel.status & STA_UNSYNC), kernel.offset * unit,
          (uint64_t)kernel.maxerror * 1000, (uint64_t)kernel.esterror * 1000, (double)kernel.freq / 65536.0, step);
  return true;
}
