/* Tells when a connection behaves unlike before: its throughput is less than half of what it was although it had
 * something to send most of the time, or its retransmissions have tripled. Both are compared with their mean over the
 * last few intervals of at least half a second. */
#ifndef LIFELINE_PROBE_ANOMALY_H
#define LIFELINE_PROBE_ANOMALY_H

#include <linux/tcp.h>

#include <stdbool.h>
#include <stdint.h>

typedef struct watch {
  uint64_t at_ns, quiet_until_ns;
  uint64_t acked, busy_us, retransmits;
  double rate, retransmit_rate; /* means, per second */
  unsigned intervals;
} watch;

typedef struct anomaly {
  const char *kind; /* "rate" or "retransmits"; NULL: none */
  double before, now;
} anomaly;

/* Adds a sample. After an anomaly, the connection is not reported again for quiet_ns. */
anomaly watch_add(watch *one, const struct tcp_info *info, uint64_t now_ns, uint64_t quiet_ns);

#endif
