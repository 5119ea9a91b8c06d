/* Login to a NATS server. */
#ifndef LIFELINE_NATS_LOGIN_H
#define LIFELINE_NATS_LOGIN_H

#include "security.h"

/* The CONNECT and PING lines; free them with login_free. `nonce` is the server's challenge. NULL if the credentials
 * file cannot be read or memory is short: detail says which. */
char *login_new(const sink_security *security, const char *name, const char *nonce, bool tls, char *detail,
                size_t detail_bytes);

/* Overwrites the text first. */
void login_free(char *login);

#endif
