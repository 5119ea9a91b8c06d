/* The offset of this host's clock from the broker's, by a plugin lifeline-clock-<scheme>.so beside the sinks, so that
 * the probe itself depends on no client library. NATS has one. Kafka's protocol has no request for the time.
 */
#ifndef LIFELINE_PROBE_BROKER_CLOCK_H
#define LIFELINE_PROBE_BROKER_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BROKER_CLOCK_ABI 1
#define BROKER_CLOCK_ENTRY "ll_broker_clock_v1"

/* The broker read its clock at some moment between a question and its answer. `offset_ns` takes the middle: positive if
 * this host's clock is ahead; the truth is at most `error_ns` from it. */
typedef struct broker_time {
  int64_t offset_ns;
  uint64_t error_ns, round_trip_ns;
  uint64_t rounds, answered; /* that were asked and answered so far; the values are of the latest answered one */
} broker_time;

typedef struct broker_clock_plugin {
  unsigned abi;
  /* Connects in the background, and asks again and again. NULL with one line in why. */
  void *(*open)(const char *url, char *why, size_t why_bytes);
  broker_time (*read)(void *clock);
  void (*close)(void *clock);
} broker_clock_plugin;

/* --- the probe's side --- */

typedef struct broker_clock {
  const broker_clock_plugin *plugin; /* NULL: there is none for this URL */
  void *clock;
  uint64_t reported;
} broker_clock;

void broker_clock_open(broker_clock *all, const char *url);

/* A sample_function; ctx is a broker_clock. Emits host.clock.broker if there is a new value. */
bool broker_clock_sample(void *ctx, uint64_t now_ns);

void broker_clock_close(broker_clock *all);

#endif
