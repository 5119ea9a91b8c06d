/* Tells the host what state the connection is in, each state once: a broker that is down for a day is one line. */
#ifndef LIFELINE_SINK_REPORT_H
#define LIFELINE_SINK_REPORT_H

#include <pthread.h>

#include "sink.h"

typedef struct sink_report {
  const ll_sink_host *host; /* NULL once the sink is closed: its threads may outlive it */
  pthread_mutex_t mutex;
  char last[256];
} sink_report;

void sink_report_init(sink_report *report, const ll_sink_host *host);

/* Any thread. Silent if the message is the one that was last reported. */
__attribute__((format(printf, 3, 4))) void sink_report_state(sink_report *report, ll_sink_log_level level,
                                                             const char *format, ...);

/* After it nothing is reported any more. */
void sink_report_close(sink_report *report);

#endif
