#include "anomaly.h"

#include <stddef.h>

enum { INTERVALS_MIN = 4, RETRANSMITS_MIN = 3 };

#define INTERVAL_NS UINT64_C(500000000)
#define WEIGHT 0.2
#define RISE 3.0         /* losses come in bursts */
#define RATE_MIN 10000.0 /* bytes per second: below, the program's own rhythm is all that is seen */

static void start(watch *one, const struct tcp_info *info, uint64_t now_ns) {
  one->at_ns = now_ns;
  one->acked = info->tcpi_bytes_acked;
  one->busy_us = info->tcpi_busy_time;
  one->retransmits = info->tcpi_total_retrans;
}

anomaly watch_add(watch *one, const struct tcp_info *info, uint64_t now_ns, uint64_t quiet_ns) {
  anomaly found = {0};
  bool first = one->at_ns == 0;
  if (!first && now_ns - one->at_ns < INTERVAL_NS) return found;
  double seconds = (double)(now_ns - one->at_ns) / 1e9;
  uint64_t acked = info->tcpi_bytes_acked - one->acked, busy_us = info->tcpi_busy_time - one->busy_us;
  uint64_t retransmits = info->tcpi_total_retrans - one->retransmits;
  start(one, info, now_ns);
  if (first) return found;
  double rate = (double)acked / seconds, retransmit_rate = (double)retransmits / seconds;
  bool busy = (double)busy_us >= seconds * 1e6 / 2;
  if (one->intervals >= INTERVALS_MIN && now_ns >= one->quiet_until_ns) {
    if (busy && one->rate >= RATE_MIN && rate < one->rate / 2) found = (anomaly){"rate", one->rate, rate};
    if (retransmits >= RETRANSMITS_MIN && retransmit_rate > RISE * one->retransmit_rate + 1)
      found = (anomaly){"retransmits", one->retransmit_rate, retransmit_rate};
    if (found.kind != NULL) one->quiet_until_ns = now_ns + quiet_ns;
  }
  if (busy || acked > 0) one->rate += (rate - one->rate) * (one->rate > 0 ? WEIGHT : 1); /* pauses do not count */
  one->retransmit_rate += (retransmit_rate - one->retransmit_rate) * WEIGHT;
  one->intervals++;
  return found;
}
