#include "security.h"

#include "base/low.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PASSWORD_MAX_BYTES = 4096 };

/* Treats an empty variable as unset. */
static char *copy_of(const char *text) {
  return text && *text ? strdup(text) : NULL;
}

/* Value of the URL's parameter, else of the variable; NULL if it is missing or empty. */
static char *setting(const sink_url *url, const char *key, const char *variable) {
  const char *value = sink_url_parameter(url, key);
  if (!value) value = secure_getenv(variable);
  return value && *value ? strdup(value) : NULL;
}

/* The file's first line. */
static char *read_password(const char *path, const char *scheme, char *error, size_t error_bytes) {
  FILE *file = LL_HOLDING_LOW(fopen(path, "re"));
  char *password = malloc(PASSWORD_MAX_BYTES);
  if (!file || !password || !fgets(password, PASSWORD_MAX_BYTES, file)) {
    snprintf(error, error_bytes, "%s: the password cannot be read from %s: %s", scheme, path,
             file && !errno ? "the file is empty" : strerror(errno));
    free(password);
    password = NULL;
  } else {
    password[strcspn(password, "\r\n")] = 0;
  }
  if (file) fclose(file);
  return password;
}

static bool load_password(sink_security *s, const sink_url *url, char *error, size_t error_bytes) {
  if (url->user) {
    s->user = copy_of(url->user);
    s->password = copy_of(url->password);
  } else {
    s->user = copy_of(secure_getenv("LIFELINE_USER"));
  }
  const char *file = secure_getenv("LIFELINE_PASSWORD_FILE");
  if (!s->user || s->password) return true;
  errno = 0;
  s->password_file = copy_of(file);
  if (s->password_file)
    s->password = read_password(file, url->scheme, error, error_bytes);
  else
    s->password = copy_of(secure_getenv("LIFELINE_PASSWORD"));
  return s->password || !s->password_file;
}

char *sink_security_password(const sink_security *s) {
  char ignored[256];
  char *now = s->password_file ? read_password(s->password_file, "", ignored, sizeof ignored) : NULL;
  return now ? now : copy_of(s->password);
}

void sink_security_forget(char *password) {
  if (password) explicit_bzero(password, strlen(password));
  free(password);
}

uint64_t sink_security_version(const sink_security *s) {
  const char *const files[] = {s->password_file, s->tls_ca, s->tls_cert, s->tls_key};
  uint64_t version = 0;
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    struct stat status = {0};
    if (!files[i] || stat(files[i], &status) != 0) continue; /* being replaced: the file that comes makes the change */
    const uint64_t parts[] = {status.st_dev, status.st_ino, (uint64_t)status.st_size, (uint64_t)status.st_ctim.tv_sec,
                              (uint64_t)status.st_ctim.tv_nsec};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
      version = (version ^ parts[k]) * UINT64_C(0x100000001b3);
  }
  return version;
}

static bool readable(const char *path, const char *scheme, const char *what, char *error, size_t error_bytes) {
  if (!path || access(path, R_OK) == 0) return true;
  snprintf(error, error_bytes, "%s: the %s %s cannot be read: %s", scheme, what, path, strerror(errno));
  return false;
}

/* True if the file has both parts of NATS credentials. nats.c reads them at each connect and reports only "Error". */
static bool holds_credentials(const char *path) {
  char line[4096];
  bool jwt = false, seed = false;
  FILE *file = LL_HOLDING_LOW(fopen(path, "re"));
  while (file && fgets(line, sizeof line, file)) {
    jwt = jwt || strstr(line, "BEGIN NATS USER JWT");
    seed = seed || strstr(line, "BEGIN USER NKEY SEED");
  }
  if (file) fclose(file);
  explicit_bzero(line, sizeof line);
  return jwt && seed;
}

static bool load_credentials(sink_security *s, const sink_url *url, char *error, size_t error_bytes) {
  s->creds = setting(url, "creds", "LIFELINE_NATS_CREDS");
  if (!readable(s->creds, url->scheme, "credentials file", error, error_bytes)) return false;
  if (!s->creds || holds_credentials(s->creds)) return true;
  snprintf(error, error_bytes, "%s: the credentials file %s contains no user JWT and nkey seed", url->scheme, s->creds);
  return false;
}

static bool load_signature(sink_security *s, const sink_url *url, char *error, size_t error_bytes) {
  char *path = setting(url, "signing_key", "LIFELINE_SIGNING_KEY_FILE");
  const char *wrong = path ? sink_signature_load(&s->signature, path) : NULL;
  if (wrong) snprintf(error, error_bytes, "%s: the signing key %s cannot be used: %s", url->scheme, path, wrong);
  free(path);
  return !wrong;
}

static bool load(sink_security *s, const sink_url *url, char *error, size_t error_bytes) {
  if (!load_password(s, url, error, error_bytes)) return false;
  s->tls_ca = setting(url, "tls_ca", "LIFELINE_TLS_CA");
  s->tls_cert = setting(url, "tls_cert", "LIFELINE_TLS_CERT");
  s->tls_key = setting(url, "tls_key", "LIFELINE_TLS_KEY");
  const char *tls = sink_url_parameter(url, "tls");
  if (tls && strcmp(tls, "true") != 0 && strcmp(tls, "false") != 0) {
    snprintf(error, error_bytes, "%s: the URL parameter tls must be true or false", url->scheme);
    return false;
  }
  s->tls = tls ? strcmp(tls, "true") == 0 : s->tls_ca || s->tls_cert || s->tls_key;
  if (s->tls && !s->tls_cert != !s->tls_key) {
    snprintf(error, error_bytes, "%s: tls_cert and tls_key go together", url->scheme);
    return false;
  }
  return readable(s->tls_ca, url->scheme, "TLS authority", error, error_bytes) &&
         readable(s->tls_cert, url->scheme, "TLS certificate", error, error_bytes) &&
         readable(s->tls_key, url->scheme, "TLS key", error, error_bytes) &&
         load_credentials(s, url, error, error_bytes) && load_signature(s, url, error, error_bytes);
}

bool sink_security_load(sink_security *security, const sink_url *url, char *error, size_t error_bytes) {
  *security = (sink_security){0};
  bool good = load(security, url, error, error_bytes);
  if (!good) sink_security_free(security);
  return good;
}

static bool is_loopback(const char *host, size_t length) {
  static const char *const names[] = {"localhost", "[::1]"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (length == strlen(names[i]) && strncmp(host, names[i], length) == 0) return true;
  return strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") == length;
}

bool sink_security_is_exposed(const sink_security *security, const sink_url *url) {
  if (!security->password || security->tls) return false;
  for (const char *host = url->hosts; *host;) {
    size_t all = strcspn(host, ","), name = *host == '[' ? strcspn(host, "],") + 1 : strcspn(host, ":,");
    if (!is_loopback(host, name < all ? name : all)) return true;
    host += all + (host[all] == ',');
  }
  return false;
}

void sink_security_outlive_exit(void) {
  OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
}

void sink_security_free(sink_security *security) {
  if (security->password) explicit_bzero(security->password, strlen(security->password));
  explicit_bzero(&security->signature, sizeof security->signature);
  free(security->user);
  free(security->password);
  free(security->password_file);
  free(security->tls_ca);
  free(security->tls_cert);
  free(security->tls_key);
  free(security->creds);
  *security = (sink_security){0};
}
