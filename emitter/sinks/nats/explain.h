/* Texts that say why a server cannot be used and what to do. Used by the sink and the tools. */
#ifndef LIFELINE_NATS_EXPLAIN_H
#define LIFELINE_NATS_EXPLAIN_H

#include "security.h"

typedef enum nats_problem {
  NATS_UNREACHABLE,
  NATS_REFUSES_CREDENTIALS,
  NATS_WANTS_TLS,
  NATS_HAS_NO_TLS,
  NATS_EXPIRED,   /* its certificate */
  NATS_UNTRUSTED, /* its certificate */
  NATS_HANGS_UP,  /* with an alert about the client's certificate, or without an alert after the TLS handshake */
} nats_problem;

/* The user as shown in messages. A user without a password is a token, and so a secret. */
const char *nats_user(const sink_security *security);

/* `detail` says why it is unreachable. False if the problem may be a mere symptom of a clearer cause. */
bool nats_explain_problem(nats_problem problem, const char *detail, const sink_url *url, const sink_security *security,
                          char *text, size_t bytes);

#endif
