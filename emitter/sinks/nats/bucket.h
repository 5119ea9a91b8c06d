/* The control topic on NATS: a KV bucket, watched. */
#ifndef LIFELINE_NATS_BUCKET_H
#define LIFELINE_NATS_BUCKET_H

#include "control_topic.h"
#include "link.h"

#define NATS_DEFAULT_CONTROL "lifeline-activations"

typedef struct nats_watch {
  sink_control *control;
  nats_link *link;
} nats_watch;

/* Reads until the control is closed: what the bucket holds, then its changes; all again after each reconnect, since
 * the server's end of a watch does not outlive the server. For sink_control_start. */
void nats_watch_read(void *watch);

#endif
