/* LTTng-UST: a tracepoint, buffers per processor that a session daemon's consumer empties into files. Who runs this has
 * made the session, and looks afterwards what it discarded. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng-provider.h"
#include "rival.h"

#include <time.h>

static void emit(uint64_t events) {
  for (uint64_t i = 0; i < events; i++)
    lttng_ust_tracepoint(lifeline_bench, my_event, (int)i, (float)i);
}

/* Its consumer looks at full sub-buffers at once, and finds none to wait for when there is a moment. */
static void drain(void) {
  static const struct timespec moment = {0, 5000000};
  nanosleep(&moment, NULL);
}

int main(int argc, char **argv) {
  return rival_main(argc, argv, &(rival){.emit = emit, .drain = drain, .burst = 50000});
}
