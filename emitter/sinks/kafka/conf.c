#include "conf.h"

#include <fcntl.h>
#include <netdb.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "alert.h"
#include "base/low.h"
#include "clients.h"

enum { SLACK_NS = 1250000 }; /* 1 ms, and the time until it waits */

/* librdkafka's own message may quote the value, which may be a password. */
static bool set(rd_kafka_conf_t *conf, const char *key, const char *value, char *error, size_t error_bytes) {
  char ignored[256];
  switch (rd_kafka_conf_set(conf, key, value, ignored, sizeof ignored)) {
  case RD_KAFKA_CONF_OK: return true;
  case RD_KAFKA_CONF_UNKNOWN:
    snprintf(error, error_bytes, "kafka: librdkafka has no setting \"%s\"", key);
    return false;
  default: snprintf(error, error_bytes, "kafka: invalid value of the setting \"%s\"", key); return false;
  }
}

static bool set_if(rd_kafka_conf_t *conf, const char *key, const char *value, char *error, size_t error_bytes) {
  return !value || set(conf, key, value, error, error_bytes);
}

static bool set_login(rd_kafka_conf_t *conf, const sink_security *s, char *error, size_t error_bytes) {
  char *password = sink_security_password(s);
  bool good = set(conf, "sasl.mechanisms", "PLAIN", error, error_bytes) &&
              set(conf, "sasl.username", s->user, error, error_bytes) &&
              set_if(conf, "sasl.password", password, error, error_bytes);
  sink_security_forget(password);
  return good;
}

static bool set_security(rd_kafka_conf_t *conf, const sink_security *s, char *error, size_t error_bytes) {
  const char *protocol = s->user ? (s->tls ? "sasl_ssl" : "sasl_plaintext") : s->tls ? "ssl" : "plaintext";
  if (!set(conf, "security.protocol", protocol, error, error_bytes)) return false;
  if (s->user && !set_login(conf, s, error, error_bytes)) return false;
  /* Verifies the host name in the certificate; librdkafka does so by default only since 2.0. */
  return !s->tls || (set(conf, "ssl.endpoint.identification.algorithm", "https", error, error_bytes) &&
                     set_if(conf, "ssl.ca.location", s->tls_ca, error, error_bytes) &&
                     set_if(conf, "ssl.certificate.location", s->tls_cert, error, error_bytes) &&
                     set_if(conf, "ssl.key.location", s->tls_key, error, error_bytes));
}

static bool set_parameters(rd_kafka_conf_t *conf, const sink_url *url, char *error, size_t error_bytes) {
  static const char *const own[] = {"max_in_flight", "control", "tls", "tls_ca", "tls_cert", "tls_key", "signing_key"};
  for (size_t i = 0; i < url->parameter_count; i++) {
    const char *key = url->parameters[i].key;
    bool known = false;
    for (size_t k = 0; k < sizeof own / sizeof *own; k++)
      known |= strcmp(own[k], key) == 0;
    if (known) continue;
    if (strncmp(key, "kafka.", 6) != 0) {
      snprintf(error, error_bytes, "kafka: the URL's parameter \"%s\" is unknown", key);
      return false;
    }
    if (strcmp(key + 6, "partitioner") == 0) { /* schemas/FORMAT.md: jobs reject a batch in another place */
      snprintf(error, error_bytes,
               "kafka: the setting \"partitioner\" cannot be changed: jobs know where a batch belongs");
      return false;
    }
    if (!set(conf, key + 6, url->parameters[i].value, error, error_bytes)) return false;
  }
  return true;
}

/* A library must not print. Errors arrive as events. */
static void drop_log(const rd_kafka_t *rk, int level, const char *facility, const char *text) {
  (void)rk;
  (void)level;
  (void)facility;
  (void)text;
}

/* librdkafka's text does not distinguish an expired certificate from an untrusted one, but this callback's last result
 * does. With several brokers it may belong to another one, which makes a message inaccurate at worst. */
static int last_verification;

static int verify(rd_kafka_t *rk, const char *broker, int32_t id, int *x509_error, int depth, const char *certificate,
                  size_t certificate_bytes, char *why, size_t why_bytes, void *opaque) {
  (void)rk;
  (void)broker;
  (void)id;
  (void)depth;
  (void)certificate;
  (void)certificate_bytes;
  (void)opaque;
  __atomic_store_n(&last_verification, *x509_error, __ATOMIC_RELAXED);
  if (*x509_error == X509_V_OK) return 1;
  snprintf(why, why_bytes, "%s", X509_verify_cert_error_string(*x509_error));
  return 0;
}

/* librdkafka would set AI_ADDRCONFIG. Then glibc lists this machine's addresses under a lock that fork does not reset
 * (__check_pf): in a child forked meanwhile every later lookup would deadlock. Without the flag glibc lists them only
 * to sort several addresses of one name. */
static int resolve(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **found,
                   void *opaque) {
  (void)opaque;
  if (!node && !service && !hints) {
    freeaddrinfo(*found);
    return 0;
  }
  struct addrinfo wanted = *hints;
  wanted.ai_flags &= ~AI_ADDRCONFIG;
  ll_low held = ll_low_hold();
  int code = getaddrinfo(node, service, &wanted, found);
  ll_low_release(held);
  return code;
}

static int open_socket(int domain, int type, int protocol, void *opaque) {
  (void)opaque;
  return ll_socket(domain, type | SOCK_CLOEXEC, protocol);
}

static int open_file(const char *path, int flags, mode_t mode, void *opaque) {
  (void)opaque;
  return ll_open(path, flags | O_CLOEXEC, mode);
}

rd_kafka_conf_t *kafka_conf_new(const sink_url *url, const sink_security *security, const char *client_id,
                                const kafka_setting *defaults, char *error, size_t error_bytes) {
  rd_kafka_conf_t *conf = rd_kafka_conf_new();
  rd_kafka_conf_set_log_cb(conf, drop_log);
  rd_kafka_conf_set_ssl_cert_verify_cb(conf, verify);
  rd_kafka_conf_set_resolve_cb(conf, resolve);
  rd_kafka_conf_set_socket_cb(conf, open_socket);
  rd_kafka_conf_set_open_cb(conf, open_file);
  bool good = set(conf, "bootstrap.servers", url->hosts, error, error_bytes) &&
              set(conf, "client.id", client_id, error, error_bytes) && set_security(conf, security, error, error_bytes);
  for (; good && defaults->key; defaults++)
    good = set(conf, defaults->key, defaults->value, error, error_bytes);
  if (good && set_parameters(conf, url, error, error_bytes)) return conf;
  rd_kafka_conf_destroy(conf);
  return NULL;
}

/* A timer of librdkafka 2.0 is due every second. Its main thread waits for the whole milliseconds until then, and spins
 * for the rest, unless the kernel may end the wait later. Threads inherit their creator's slack, those for brokers too:
 * linger.ms may last as much longer. An interceptor could set it for the main thread alone, but then librdkafka frees
 * the configuration twice if it cannot start. */
rd_kafka_t *kafka_new(rd_kafka_type_t type, rd_kafka_conf_t *conf, char *error, size_t error_bytes) {
  int own_ns = prctl(PR_GET_TIMERSLACK);
  bool short_slack = own_ns > 0 && own_ns < SLACK_NS;
  if (short_slack) prctl(PR_SET_TIMERSLACK, SLACK_NS);
  kafka_client_begins();
  ll_low held = ll_low_hold();
  rd_kafka_t *client = rd_kafka_new(type, conf, error, error_bytes);
  ll_low_release(held);
  if (!client) kafka_client_ends();
  if (short_slack) prctl(PR_SET_TIMERSLACK, own_ns);
  return client;
}

void kafka_destroy(rd_kafka_t *client) {
  rd_kafka_destroy(client);
  kafka_client_ends();
}

const char *kafka_explain(rd_kafka_resp_err_t code, const char *reason, bool *symptom) {
  /* After the handshake, as in TLS 1.3, librdkafka reports the broker's alert as a transport error. */
  bool connecting = code == RD_KAFKA_RESP_ERR__SSL || code == RD_KAFKA_RESP_ERR__TRANSPORT;
  sink_alert alert = connecting ? sink_alert_read(reason) : SINK_ALERT_NONE;
  *symptom = alert == SINK_ALERT_OTHER;
  if (alert == SINK_ALERT_OTHER) return "cannot be reached";
  if (alert == SINK_ALERT_CERTIFICATE)
    return "requires a client certificate that it trusts: check LIFELINE_TLS_CERT and LIFELINE_TLS_KEY";
  switch (code) {
  case RD_KAFKA_RESP_ERR__AUTHENTICATION:
  case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
    return "refuses the credentials: check LIFELINE_USER and LIFELINE_PASSWORD_FILE";
  case RD_KAFKA_RESP_ERR__SSL:
    if (__atomic_load_n(&last_verification, __ATOMIC_RELAXED) == X509_V_ERR_CERT_HAS_EXPIRED)
      return "cannot be reached over TLS: its certificate has expired";
    return "cannot be reached over TLS: the certificate is not signed by a trusted CA (LIFELINE_TLS_CA) or not valid "
           "for this name, or the server has no TLS";
  case RD_KAFKA_RESP_ERR__TIMED_OUT: return "does not answer";
  case RD_KAFKA_RESP_ERR__RESOLVE: return "has a name that cannot be resolved";
  case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
  case RD_KAFKA_RESP_ERR__TRANSPORT: *symptom = true; return "cannot be reached";
  default: return NULL;
  }
}
