/* LTTng-UST: a tracepoint with per-processor buffers, which a session daemon's consumer writes to files. The caller
 * creates the session before, and counts the discarded events afterwards. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng-provider.h"
#include "rival.h"

#include <time.h>

static void emit(uint64_t events) {
  for (uint64_t i = 0; i < events; i++)
    lttng_ust_tracepoint(lifeline_bench, my_event, (int)i, (float)i);
}

/* The consumer takes full sub-buffers at once; this pause gives it time. */
static void drain(void) {
  static const struct timespec moment = {0, 5000000};
  nanosleep(&moment, NULL);
}

int main(int argc, char **argv) {
  return rival_main(argc, argv, &(rival){.emit = emit, .drain = drain, .burst = 50000});
}
