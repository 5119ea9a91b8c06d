#include "explain.h"

#include <stdio.h>

const char *nats_user(const sink_security *security) {
  return security->user && security->password ? security->user
         : security->user                     ? "(a token)"
         : security->creds                    ? "of the credentials file"
                                              : "(none)";
}

bool nats_explain_problem(nats_problem problem, const char *detail, const sink_url *url, const sink_security *security,
                          char *text, size_t bytes) {
  switch (problem) {
  case NATS_REFUSES_CREDENTIALS:
    snprintf(text, bytes, "nats: %s refuses the credentials (user %s)", url->hosts,
             security->user || security->creds ? nats_user(security)
                                               : "none: set LIFELINE_USER and LIFELINE_PASSWORD_FILE");
    return true;
  case NATS_WANTS_TLS: snprintf(text, bytes, "nats: %s requires TLS: add tls=true to the URL", url->hosts); return true;
  case NATS_HAS_NO_TLS:
    snprintf(text, bytes, "nats: %s has no TLS, which the URL or LIFELINE_TLS_* requires", url->hosts);
    return true;
  case NATS_EXPIRED:
    snprintf(text, bytes, "nats: TLS with %s fails: its certificate has expired", url->hosts);
    return true;
  case NATS_UNTRUSTED:
    snprintf(text, bytes, "nats: TLS with %s fails: its certificate is not signed by %s, or not valid for this name",
             url->hosts, security->tls_ca ? security->tls_ca : "a CA of this system (set LIFELINE_TLS_CA)");
    return true;
  case NATS_HANGS_UP:
    snprintf(text, bytes,
             "nats: %s closes TLS connections at once: it may require %s; check LIFELINE_TLS_CERT and _KEY", url->hosts,
             security->tls_cert ? "another client certificate" : "a client certificate");
    return true;
  case NATS_UNREACHABLE: break;
  }
  snprintf(text, bytes, "nats: %s cannot be reached: %s", url->hosts, detail);
  return false;
}
