/* Where answers to this client arrive: below a prefix of its user's own, so that the permissions of an emitter need not
 * let it read what is meant for others. */
#ifndef LIFELINE_NATS_INBOX_H
#define LIFELINE_NATS_INBOX_H

#include "security.h"

enum { NATS_INBOX_PREFIX_BYTES = 72 };

/* `_INBOX_<user>` of a user with a password; `_INBOX` of others (a token, a credentials file, no login), and of a user
 * whose name is no part of a subject. */
void nats_inbox_prefix(const sink_security *security, char prefix[NATS_INBOX_PREFIX_BYTES]);

#endif
