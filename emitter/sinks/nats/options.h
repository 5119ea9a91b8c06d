/* nats.c's options from a URL and the environment, for the tools. The sink does not use nats.c. */
#ifndef LIFELINE_NATS_OPTIONS_H
#define LIFELINE_NATS_OPTIONS_H

#include <nats/nats.h>

#include "names.h"
#include "security.h"

/* Servers, credentials, TLS and the connection's name. On failure returns NULL and writes one line into error. */
natsOptions *nats_options_new(const sink_url *url, const sink_security *security, const char *name, char *error,
                              size_t error_bytes);

/* Writes why the connection failed and what to do, from the calling thread's last error. False if the problem may be a
 * mere symptom of a clearer cause. */
bool nats_explain(natsStatus status, const sink_url *url, const sink_security *security, char *text, size_t bytes);

#endif
