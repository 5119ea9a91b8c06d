/* Credentials and TLS of a broker, from the URL or else from the environment:
 *
 *   user:password@ in the URL   LIFELINE_USER, LIFELINE_PASSWORD_FILE or LIFELINE_PASSWORD
 *   tls=true|false              on if the URL or the environment names any of the files below
 *   tls_ca, tls_cert, tls_key   LIFELINE_TLS_CA, LIFELINE_TLS_CERT, LIFELINE_TLS_KEY
 *   creds (NATS only)           LIFELINE_NATS_CREDS
 *   signing_key                 LIFELINE_SIGNING_KEY_FILE, see signature.h
 *
 * The environment is read by secure_getenv. All files but the signing key are read again for each connection, since
 * they are renewed while programs run.
 */
#ifndef LIFELINE_SINK_SECURITY_H
#define LIFELINE_SINK_SECURITY_H

#include <stdint.h>

#include "signature.h"
#include "url.h"

typedef struct sink_security {
  char *user;          /* NULL if unset, as are all pointers below */
  char *password;      /* as it was when the sink was opened */
  char *password_file; /* NULL also if the password is from elsewhere */
  bool tls;
  char *tls_ca;
  char *tls_cert;
  char *tls_key;
  char *creds;
  sink_signature signature;
} sink_security;

/* Reads the files of password and signing key, and checks that the other files are readable. On failure writes one line
 * into error and leaves nothing to free. */
bool sink_security_load(sink_security *security, const sink_url *url, char *error, size_t error_bytes);

/* The password as its file has it now; as it was if the file cannot be read. NULL without one. For one connection, then
 * sink_security_forget. */
char *sink_security_password(const sink_security *security);
void sink_security_forget(char *password);

/* Changes whenever one of the files that connections read is replaced or written. */
uint64_t sink_security_version(const sink_security *security);

/* True if the password would cross a network in clear text: no TLS, and a host that is no loopback name or address. */
bool sink_security_is_exposed(const sink_security *security, const sink_url *url);

/* Call it before OpenSSL is used. It disables OpenSSL's atexit cleanup, since batches are sent and signed, and logins
 * made, during exit. */
void sink_security_outlive_exit(void);

/* Overwrites password and signing key, then frees. */
void sink_security_free(sink_security *security);

#endif
