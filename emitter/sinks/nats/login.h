/* How a client tells a NATS server who it is. */
#ifndef LIFELINE_NATS_LOGIN_H
#define LIFELINE_NATS_LOGIN_H

#include "security.h"

/* The CONNECT line with the PING behind it, to be freed with login_free. `nonce` is what the server wants signed. NULL
 * when the credentials file cannot be read, or there is no memory: detail says so. */
char *login_new(const sink_security *security, const char *name, const char *nonce, bool tls, char *detail,
                size_t detail_bytes);

/* Overwrites it first. */
void login_free(char *login);

#endif
