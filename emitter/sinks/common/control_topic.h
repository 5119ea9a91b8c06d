/* Reading the control topic: what the two brokers' ways of it have in common.
 *
 * On Kafka a thread of its own reads, since the client library waits for the broker there; it never touches batches.
 * What cannot be read is one line of information, as activations are a convenience and not what a program runs for.
 */
#ifndef LIFELINE_SINK_CONTROL_TOPIC_H
#define LIFELINE_SINK_CONTROL_TOPIC_H

#include <pthread.h>

#include "report.h"
#include "url.h"

enum { SINK_CONTROL_RETRY_MS = 5000 };

typedef struct sink_control {
  const char *name; /* of bucket or topic; NULL: off */
  sink_report report;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  const ll_sink_host *host; /* NULL once the sink is closed: the thread may outlive it */
  bool running;
  bool closing;
  void (*read)(void *ctx);
  void *read_ctx;
} sink_control;

/* Reads the URL's control=on|off|<name>. On failure writes one line into error. */
bool sink_control_init(sink_control *control, const ll_sink_host *host, const sink_url *url, const char *standard_name,
                       char *error, size_t error_bytes);

/* Starts the thread, which reads until sink_control_closing. Nothing if control is off. */
void sink_control_start(sink_control *control, void (*read)(void *ctx), void *ctx);

/* For that thread. wait: until closing, or the time is over. */
bool sink_control_closing(sink_control *control);
void sink_control_wait(sink_control *control, int timeout_ms);

/* To the host, unless the sink is closed. */
void sink_control_begin(sink_control *control);
void sink_control_says(sink_control *control, const ll_control_message *message);
void sink_control_complete(sink_control *control);

/* No call of the host from here on; the thread ends as soon as it looks. */
void sink_control_close(sink_control *control);

/* Waits for the thread's end. False if it still runs after that time. */
bool sink_control_join(sink_control *control, int timeout_ms);

#endif
