/* nats.c's options from a URL and the environment, for the tools: what of NATS the sink and they have in common. */
#ifndef LIFELINE_NATS_OPTIONS_H
#define LIFELINE_NATS_OPTIONS_H

#include <nats/nats.h>

#include "names.h"
#include "security.h"

/* Servers, credentials, TLS and the connection's name. On failure returns NULL and writes one line into error. */
natsOptions *nats_options_new(const sink_url *url, const sink_security *security, const char *name, char *error,
                              size_t error_bytes);

/* Why a connection failed, in words that say what to do. Of the calling thread's last error. False if that is but a
 * symptom, which may have a clearer cause. */
bool nats_explain(natsStatus status, const sink_url *url, const sink_security *security, char *text, size_t bytes);

#endif
