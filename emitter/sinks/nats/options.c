#include "options.h"

#include "alert.h"
#include "explain.h"
#include "inbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SERVERS = 64, CONNECT_TIMEOUT_MS = 10000, PING_INTERVAL_MS = 20000 };

/* natsOptions_SetURL would make user and password part of the library's own messages. */
static natsStatus set_servers(natsOptions *options, const sink_url *url) {
  char *hosts = strdup(url->hosts), *rest = hosts;
  const char *servers[MAX_SERVERS];
  int count = 0;
  for (char *host; hosts && (host = strsep(&rest, ",")) && count < MAX_SERVERS; count++) {
    char *server;
    if (asprintf(&server, "nats://%s", host) < 0) break;
    servers[count] = server;
  }
  natsStatus status = count ? natsOptions_SetServers(options, servers, count) : NATS_NO_MEMORY;
  for (int i = 0; i < count; i++)
    free((char *)servers[i]);
  free(hosts);
  return status;
}

static natsStatus set_security(natsOptions *options, const sink_security *security) {
  natsStatus status = NATS_OK;
  if (security->user && security->password)
    status = natsOptions_SetUserInfo(options, security->user, security->password);
  else if (security->user)
    status = natsOptions_SetToken(options, security->user);
  if (status == NATS_OK && security->creds)
    status = natsOptions_SetUserCredentialsFromFiles(options, security->creds, NULL);
  if (status == NATS_OK && security->tls) status = natsOptions_SetSecure(options, true);
  if (status == NATS_OK && security->tls && security->tls_ca)
    status = natsOptions_LoadCATrustedCertificates(options, security->tls_ca);
  if (status == NATS_OK && security->tls && security->tls_cert)
    status = natsOptions_LoadCertificatesChain(options, security->tls_cert, security->tls_key);
  return status;
}

natsOptions *nats_options_new(const sink_url *url, const sink_security *security, const char *name, char *error,
                              size_t error_bytes) {
  natsOptions *options = NULL;
  natsStatus status = natsOptions_Create(&options);
  if (status == NATS_OK) status = set_servers(options, url);
  if (status == NATS_OK) status = natsOptions_SetName(options, name);
  if (status == NATS_OK) status = natsOptions_SetTimeout(options, CONNECT_TIMEOUT_MS);
  if (status == NATS_OK) status = natsOptions_SetAllowReconnect(options, false);
  if (status == NATS_OK) status = natsOptions_SetPingInterval(options, PING_INTERVAL_MS);
  if (status == NATS_OK) status = set_security(options, security);
  char prefix[NATS_INBOX_PREFIX_BYTES];
  nats_inbox_prefix(security, prefix);
  if (status == NATS_OK) status = natsOptions_SetCustomInboxPrefix(options, prefix);
  if (status == NATS_OK) return options;
  snprintf(error, error_bytes, "nats: %s",
           status == NATS_SSL_ERROR ? "the CA certificate, client certificate or key is invalid"
                                    : natsStatus_GetText(status));
  natsOptions_Destroy(options);
  return NULL;
}

bool nats_explain(natsStatus status, const sink_url *url, const sink_security *security, char *text, size_t bytes) {
  nats_problem problem = NATS_UNREACHABLE;
  const char *last = nats_GetLastError(NULL) ? nats_GetLastError(NULL) : "", *detail = natsStatus_GetText(status);
  sink_alert alert = sink_alert_read(last);
  switch (status) {
  case NATS_CONNECTION_AUTH_FAILED:
  case NATS_NOT_PERMITTED: problem = NATS_REFUSES_CREDENTIALS; break;
  case NATS_SECURE_CONNECTION_REQUIRED: problem = NATS_WANTS_TLS; break;
  case NATS_SECURE_CONNECTION_WANTED: problem = NATS_HAS_NO_TLS; break;
  case NATS_SSL_ERROR:
    problem = alert == SINK_ALERT_CERTIFICATE ? NATS_HANGS_UP
              : alert == SINK_ALERT_OTHER     ? NATS_UNREACHABLE
              : strstr(last, "expired")       ? NATS_EXPIRED
                                              : NATS_UNTRUSTED;
    break;
  case NATS_PROTOCOL_ERROR: /* TLS 1.3 refuses a client after the handshake; nats.c sees a closed connection */
    if (security->tls) problem = NATS_HANGS_UP;
    break;
  default: break;
  }
  if (status == NATS_SSL_ERROR && alert == SINK_ALERT_OTHER) detail = last;
  return nats_explain_problem(problem, detail, url, security, text, bytes);
}
