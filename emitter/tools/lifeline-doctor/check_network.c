/* Checks of names, connections and TLS without a client library, which would only report "cannot be reached". */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "doctor.h"

enum { CONNECT_MS = 20000, /* a busy machine takes seconds for a handshake */ SOON_DAYS = 14 };

typedef struct target {
  char name[256];
  char port[8];
  char subject[300];
} target;

static bool split(const char *host, size_t bytes, target *t) {
  char text[256];
  if (bytes >= sizeof text) return false;
  snprintf(text, sizeof text, "%.*s", (int)bytes, host);
  char *colon = strrchr(text, ':');
  *colon = 0; /* the URL's parser fills in the port */
  snprintf(t->port, sizeof t->port, "%s", colon + 1);
  bool bracketed = text[0] == '[' && text[strlen(text) - 1] == ']';
  snprintf(t->name, sizeof t->name, "%.*s", (int)(strlen(text) - (bracketed ? 2 : 0)), text + bracketed);
  return true;
}

static bool finish_connecting(int s) {
  struct pollfd ready = {.fd = s, .events = POLLOUT};
  int error = 0;
  socklen_t size = sizeof error;
  int count = poll(&ready, 1, CONNECT_MS);
  if (count == 0) errno = ETIMEDOUT;
  if (count <= 0 || getsockopt(s, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return false;
  if (error) errno = error;
  return error == 0;
}

/* Returns a blocking socket with read and write timeouts, or -1 with errno. */
static int connect_to(const struct addrinfo *address) {
  struct timeval patience = {.tv_sec = CONNECT_MS / 1000};
  int s = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (s < 0) return -1;
  if (connect(s, address->ai_addr, address->ai_addrlen) == 0 || (errno == EINPROGRESS && finish_connecting(s))) {
    fcntl(s, F_SETFL, 0);
    setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    return s;
  }
  int why = errno;
  close(s);
  errno = why;
  return -1;
}

static double now_ms(void) {
  return (double)ll_now_ns(CLOCK_MONOTONIC) / 1e6;
}

static int reach(const target *t) {
  struct addrinfo *found, hints = {.ai_socktype = SOCK_STREAM};
  int code = getaddrinfo(t->name, t->port, &hints, &found);
  if (code != 0) {
    report(FAIL, t->subject, "the name %s cannot be resolved: %s; check the URL, /etc/hosts and the DNS", t->name,
           code == EAI_SYSTEM ? strerror(errno) : gai_strerror(code));
    return -1;
  }
  int s = -1;
  double began = now_ms();
  for (struct addrinfo *a = found; a && s < 0; a = a->ai_next)
    s = connect_to(a);
  freeaddrinfo(found);
  if (s >= 0)
    report(OK, t->subject, "connects in %.1f ms", now_ms() - began);
  else
    report(FAIL, t->subject, "no connection: %s; is the broker running, and does a firewall block it?",
           strerror(errno));
  return s;
}

/* A NATS server sends its greeting in clear text; TLS starts after it. */
static bool read_greeting(int s, const target *t) {
  char byte, begins[5] = "";
  for (size_t i = 0; recv(s, &byte, 1, 0) == 1; i++) {
    if (i < 4) begins[i] = byte;
    if (byte != '\n') continue;
    if (strcmp(begins, "INFO") == 0) return true;
    break;
  }
  report(FAIL, t->subject,
         *begins ? "the server there is not NATS"
                 : "it accepts connections but sends nothing: not a NATS server, or one that hangs");
  return false;
}

static void check_certificate(const char *subject, const char *whose, const X509 *certificate) {
  int days = 0, seconds = 0;
  char until[64] = "";
  BIO *text = BIO_new(BIO_s_mem());
  ASN1_TIME_print(text, X509_get0_notAfter(certificate));
  BIO_read(text, until, sizeof until - 1);
  BIO_free(text);
  ASN1_TIME_diff(&days, &seconds, NULL, X509_get0_notAfter(certificate));
  if (days < 0 || seconds < 0)
    report(FAIL, subject, "%s certificate has expired on %s; renew it", whose, until);
  else if (X509_cmp_current_time(X509_get0_notBefore(certificate)) > 0)
    report(FAIL, subject, "%s certificate is not valid yet: is this machine's clock right?", whose);
  else if (days < SOON_DAYS)
    report(WARN, subject, "%s certificate expires in %d days, on %s; renew it", whose, days, until);
  else
    report(OK, subject, "%s certificate is good for %d days", whose, days);
}

static void check_own_certificate(const sink_security *security) {
  FILE *file = security->tls_cert ? fopen(security->tls_cert, "re") : NULL;
  X509 *certificate = file ? PEM_read_X509(file, NULL, NULL, NULL) : NULL;
  if (file) fclose(file);
  if (certificate)
    check_certificate("client certificate", "your", certificate);
  else if (security->tls_cert)
    report(FAIL, "client certificate", "%s contains no certificate", security->tls_cert);
  X509_free(certificate);
}

static SSL_CTX *tls_context(const sink_security *security) {
  SSL_CTX *context = SSL_CTX_new(TLS_client_method());
  if (security->tls_ca)
    SSL_CTX_load_verify_locations(context, security->tls_ca, NULL);
  else
    SSL_CTX_set_default_verify_paths(context);
  if (security->tls_cert) {
    SSL_CTX_use_certificate_chain_file(context, security->tls_cert);
    SSL_CTX_use_PrivateKey_file(context, security->tls_key, SSL_FILETYPE_PEM);
  }
  return context; /* no verification in the handshake: all problems are to be reported */
}

static bool check_chain(const target *t, const sink_security *security, SSL *tls, const X509 *certificate) {
  long result = SSL_get_verify_result(tls);
  bool expired = result == X509_V_ERR_CERT_HAS_EXPIRED || result == X509_V_ERR_CERT_NOT_YET_VALID;
  check_certificate(t->subject, "its", certificate);
  if (result != X509_V_OK && !expired)
    report(FAIL, t->subject, "its certificate is not trusted (%s); LIFELINE_TLS_CA is %s",
           X509_verify_cert_error_string(result), security->tls_ca ? security->tls_ca : "not set");
  bool named = X509_check_ip_asc((X509 *)certificate, t->name, 0) == 1 ||
               X509_check_host((X509 *)certificate, t->name, 0, 0, NULL) == 1;
  if (!named) report(FAIL, t->subject, "its certificate is not valid for the name %s", t->name);
  return result == X509_V_OK && named;
}

static bool check_tls(int s, const target *t, const sink_security *security) {
  SSL_CTX *context = tls_context(security);
  SSL *tls = SSL_new(context);
  SSL_set_fd(tls, s);
  SSL_set_tlsext_host_name(tls, t->name);
  bool good = false;
  X509 *certificate = SSL_connect(tls) == 1 ? SSL_get1_peer_certificate(tls) : NULL;
  if (certificate) {
    good = check_chain(t, security, tls, certificate);
    X509_free(certificate);
  } else {
    unsigned long code = ERR_peek_last_error();
    report(FAIL, t->subject, "no TLS there: %s", code ? ERR_reason_error_string(code) : "the connection was closed");
  }
  SSL_free(tls);
  SSL_CTX_free(context);
  return good;
}

static bool check_target(const target *t, const tool_broker *broker) {
  int s = reach(t);
  if (s < 0) return false;
  bool good = !broker->nats || read_greeting(s, t);
  if (good && broker->security.tls) good = check_tls(s, t, &broker->security);
  close(s);
  return good;
}

bool check_network(const tool_broker *broker) {
  unsigned good = 0;
  const char *host = broker->url.hosts;
  if (broker->security.tls) check_own_certificate(&broker->security);
  while (*host) {
    target t;
    size_t bytes = strcspn(host, ",");
    if (split(host, bytes, &t)) {
      snprintf(t.subject, sizeof t.subject, "server %.*s", (int)bytes, host);
      good += check_target(&t, broker);
    }
    host += bytes + (host[bytes] == ',');
  }
  return good > 0;
}
