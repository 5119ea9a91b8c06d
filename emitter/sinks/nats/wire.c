#include "wire.h"

#include "base/low.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "alert.h"
#include "flight.h"
#include "login.h"

enum {
  ROOM_FIRST = 64 << 10,
  ROOM_MOST = 16 << 20, /* larger frames do not come from a NATS server */
  SAY_MS = 2000,
  LOGIN_FRAMES_MOST = 100, /* a server sends two or three before it answers the login */
};

const char *wire_json(const char *json, const char *key) {
  char text[64];
  snprintf(text, sizeof text, "\"%s\":", key);
  const char *found = strstr(json, text);
  return found ? found + strlen(text) : NULL;
}

static bool load_certificates(SSL_CTX *tls, const sink_security *security) {
  SSL_CTX_set_verify(tls, SSL_VERIFY_PEER, NULL);
  SSL_CTX_set_mode(tls, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  return SSL_CTX_set_min_proto_version(tls, TLS1_2_VERSION) == 1 &&
         (security->tls_ca ? SSL_CTX_load_verify_locations(tls, security->tls_ca, NULL)
                           : SSL_CTX_set_default_verify_paths(tls)) == 1 &&
         (!security->tls_cert || (SSL_CTX_use_certificate_chain_file(tls, security->tls_cert) == 1 &&
                                  SSL_CTX_use_PrivateKey_file(tls, security->tls_key, SSL_FILETYPE_PEM) == 1));
}

static SSL_CTX *read_tls(const sink_security *security) {
  SSL_CTX *tls = SSL_CTX_new(TLS_client_method());
  if (tls && LL_HOLDING_LOW(load_certificates(tls, security))) return tls;
  SSL_CTX_free(tls);
  ERR_clear_error();
  return NULL;
}

bool wire_init(wire *w, const sink_security *security, char *error, size_t error_bytes) {
  *w = (wire){.fd = -1};
  pthread_mutex_init(&w->sending, NULL);
  if (!security->tls) return true; /* leave OpenSSL uninitialised: a fork may copy its locks while they are held */
  w->tls = read_tls(security);
  if (w->tls) return true;
  snprintf(error, error_bytes, "nats: the CA certificate, client certificate or key is invalid");
  return false;
}

/* Reloads the certificates, which are renewed while programs run. */
static void renew_tls(wire *w, const sink_security *security) {
  SSL_CTX *renewed = read_tls(security);
  if (!renewed) return;
  SSL_CTX_free(w->tls);
  w->tls = renewed;
}

void wire_destroy(wire *w) {
  SSL_CTX_free(w->tls);
  free(w->in);
  pthread_mutex_destroy(&w->sending);
}

/* --- sockets --- */

static bool is_ours(const wire *w) {
  struct stat status;
  return w->fd >= 0 && fstat(w->fd, &status) == 0 && S_ISSOCK(status.st_mode) && status.st_ino == w->inode;
}

static bool wait_for(int fd, short events, int64_t deadline_ms) {
  struct pollfd wanted = {.fd = fd, .events = events};
  for (int64_t left_ms; (left_ms = deadline_ms - flight_now_ms()) > 0;) {
    int ready = poll(&wanted, 1, (int)left_ms);
    if (ready >= 0 || errno != EINTR) return ready == 1;
  }
  return false;
}

/* A connected socket, or -1 with errno set. */
static int connect_socket(const struct addrinfo *address, int64_t deadline_ms) {
  int fd = ll_socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, address->ai_protocol), error = 0;
  socklen_t size = sizeof error;
  if (fd < 0) return -1;
  if (connect(fd, address->ai_addr, address->ai_addrlen) != 0) {
    error = errno;
    if (error == EINPROGRESS) {
      if (!wait_for(fd, POLLOUT, deadline_ms))
        error = ETIMEDOUT;
      else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
        error = errno;
    }
  }
  if (error == 0) {
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    return fd;
  }
  close(fd);
  errno = error;
  return -1;
}

/* "host:port", with an IPv6 address in brackets. */
static void split(const char *text, char *host, size_t host_bytes, char *port, size_t port_bytes) {
  const char *colon = strrchr(text, ':');
  size_t length = colon ? (size_t)(colon - text) : strlen(text);
  if (text[0] == '[' && length >= 2) {
    text++;
    length -= 2;
  }
  snprintf(host, host_bytes, "%.*s", (int)length, text);
  snprintf(port, port_bytes, "%s", colon ? colon + 1 : "4222");
}

static bool dial(wire *w, const char *host, const char *port, int64_t deadline_ms, char *detail, size_t detail_bytes) {
  struct addrinfo wanted = {.ai_socktype = SOCK_STREAM}, *found = NULL;
  int code = LL_HOLDING_LOW(getaddrinfo(host, port, &wanted, &found)), fd = -1;
  if (code != 0) {
    snprintf(detail, detail_bytes, "%s: %s", host, gai_strerror(code));
    return false;
  }
  int64_t left = 0; /* each address gets a share of the time, since the first may not respond */
  for (const struct addrinfo *address = found; address; address = address->ai_next)
    left++;
  for (const struct addrinfo *address = found; address && fd < 0; address = address->ai_next, left--)
    fd = connect_socket(address, flight_now_ms() + (deadline_ms - flight_now_ms()) / left);
  int error = errno;
  freeaddrinfo(found);
  struct stat status;
  if (fd < 0 || fstat(fd, &status) != 0) {
    snprintf(detail, detail_bytes, "%s", strerror(error));
    if (fd >= 0) close(fd);
    return false;
  }
  w->fd = fd;
  w->inode = status.st_ino;
  return true;
}

/* --- TLS --- */

/* The poll event that OpenSSL waits for; 0 if the call has failed. */
static short awaited(const SSL *ssl, int result) {
  int code = SSL_get_error(ssl, result);
  return code == SSL_ERROR_WANT_READ ? POLLIN : code == SSL_ERROR_WANT_WRITE ? POLLOUT : 0;
}

static bool expect_name(SSL *ssl, const char *host) {
  SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1) return true;
  ERR_clear_error();
  return SSL_set_tlsext_host_name(ssl, host) == 1 && SSL_set1_host(ssl, host) == 1;
}

static bool begin_tls(wire *w, const char *host, const sink_security *security, int64_t deadline_ms,
                      nats_problem *problem, char *detail, size_t detail_bytes) {
  if (!w->tls) w->tls = read_tls(security); /* TLS is required by the server, not by the URL */
  *problem = NATS_WANTS_TLS;
  if (!w->tls) return false;
  w->ssl = SSL_new(w->tls);
  if (!w->ssl || SSL_set_fd(w->ssl, w->fd) != 1 || !expect_name(w->ssl, host)) return false;
  for (;;) {
    ERR_clear_error();
    int result = LL_HOLDING_LOW(SSL_connect(w->ssl)); /* it may read CA certificates */
    if (result == 1) return true;
    short events = awaited(w->ssl, result);
    if (events != 0 && wait_for(w->fd, events, deadline_ms)) continue;
    long verified = SSL_get_verify_result(w->ssl);
    unsigned long code = ERR_peek_last_error();
    const char *reason = code != 0 ? ERR_reason_error_string(code) : NULL;
    bool refused = reason && sink_alert_read(reason) == SINK_ALERT_CERTIFICATE;
    *problem = verified == X509_V_ERR_CERT_HAS_EXPIRED ? NATS_EXPIRED
               : verified != X509_V_OK                 ? NATS_UNTRUSTED
               : refused                               ? NATS_HANGS_UP
                                                       : NATS_UNREACHABLE;
    snprintf(detail, detail_bytes, "TLS: %s", reason ? reason : events != 0 ? "no answer" : "the connection is closed");
    ERR_clear_error();
    return false;
  }
}

/* --- reading --- */

static bool make_room(wire *w) {
  if (w->taken > 0) {
    memmove(w->in, w->in + w->taken, w->used - w->taken);
    w->used -= w->taken;
    w->taken = 0;
  }
  if (w->used < w->room) return true;
  size_t room = w->room ? w->room * 2 : ROOM_FIRST;
  char *in = room <= ROOM_MOST ? realloc(w->in, room) : NULL;
  if (!in) return false;
  w->in = in;
  w->room = room;
  return true;
}

/* Number of bytes read; 0 if there are none now, -1 if the connection is lost. */
static ssize_t read_now(wire *w) {
  if (!is_ours(w)) return -1;
  if (!w->ssl) {
    ssize_t count = recv(w->fd, w->in + w->used, w->room - w->used, 0);
    return count > 0 ? count : count < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
  }
  __atomic_store_n(&w->reading, true, __ATOMIC_RELEASE);
  pthread_mutex_lock(&w->sending);
  __atomic_store_n(&w->reading, false, __ATOMIC_RELEASE);
  ERR_clear_error();
  int count = SSL_read(w->ssl, w->in + w->used, (int)(w->room - w->used));
  short events = count > 0 ? 0 : awaited(w->ssl, count);
  if (count <= 0 && events == 0) w->tls_error = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  pthread_mutex_unlock(&w->sending);
  return count > 0 ? count : events != 0 ? 0 : -1;
}

bool wire_read(wire *w, int timeout_ms) {
  if (!make_room(w)) return false;
  ssize_t count = read_now(w);
  if (count == 0 && wait_for(w->fd, POLLIN, flight_now_ms() + timeout_ms)) count = read_now(w);
  if (count < 0) return false;
  if (count > 0) w->heard_ms = flight_now_ms();
  w->used += (size_t)count;
  return true;
}

/* The next word of a line; "" at its end. */
static char *word(char **line) {
  char *begin = *line + strspn(*line, " \t");
  char *end = begin + strcspn(begin, " \t");
  *line = *end ? end + 1 : end;
  *end = 0;
  return begin;
}

/* Parses "subject subscription [reply] [header bytes] bytes". Returns WIRE_NOTHING until the whole message is there. */
static wire_frame read_message(wire *w, char *line, size_t line_bytes, bool headers) {
  char copy[4096], *rest = copy, *words[6];
  unsigned count = 0, least = headers ? 4 : 3;
  snprintf(copy, sizeof copy, "%.*s", (int)line_bytes, line);
  word(&rest); /* MSG or HMSG */
  for (; count < 6 && *(words[count] = word(&rest)); count++) {
  }
  if (line_bytes >= sizeof copy || count < least || count > least + 1) return (wire_frame){.kind = WIRE_JUNK};
  size_t bytes = strtoul(words[count - 1], NULL, 10), before = headers ? strtoul(words[count - 2], NULL, 10) : 0;
  if (bytes > ROOM_MOST / 2 || before > bytes) return (wire_frame){.kind = WIRE_JUNK};
  size_t end = (size_t)(line - w->in) + line_bytes + 2 + bytes + 2;
  if (w->used < end) return (wire_frame){.kind = WIRE_NOTHING};
  /* The strings are terminated in place. The headers end with an empty line, whose LF is overwritten. */
  char *body = line + line_bytes + 2;
  line[line_bytes] = 0;
  word(&line);
  wire_frame message = {
      .kind = WIRE_MESSAGE, .reply = "", .headers = "", .data = body + before, .bytes = bytes - before};
  message.subject = word(&line);
  message.subscription = (unsigned)strtoul(word(&line), NULL, 10);
  if (count > least) message.reply = word(&line);
  if (before >= 2) {
    body[before - 1] = 0;
    message.headers = body;
  }
  body[bytes] = 0; /* overwrites the CR after the message */
  w->taken = end;
  return message;
}

wire_frame wire_next(wire *w) {
  char *line = w->in + w->taken;
  char *end = w->used > w->taken ? memchr(line, '\n', w->used - w->taken) : NULL;
  if (!end || end == line || end[-1] != '\r') return (wire_frame){.kind = end ? WIRE_JUNK : WIRE_NOTHING};
  size_t bytes = (size_t)(end - line) - 1;
  if (strncmp(line, "MSG ", 4) == 0 || strncmp(line, "HMSG ", 5) == 0)
    return read_message(w, line, bytes, line[0] == 'H');
  line[bytes] = 0;
  w->taken += bytes + 2;
  if (strncmp(line, "INFO ", 5) == 0) {
    const char *payload = wire_json(line, "max_payload");
    if (payload) __atomic_store_n(&w->max_payload, strtoll(payload, NULL, 10), __ATOMIC_RELEASE);
    return (wire_frame){.kind = WIRE_INFO, .text = line + 5};
  }
  if (strncmp(line, "-ERR", 4) == 0) return (wire_frame){.kind = WIRE_ERROR, .text = line + 4};
  if (strcmp(line, "PING") == 0) return (wire_frame){.kind = WIRE_PING};
  if (strcmp(line, "PONG") == 0) return (wire_frame){.kind = WIRE_PONG};
  if (strcmp(line, "+OK") == 0) return (wire_frame){.kind = WIRE_INFO, .text = ""};
  return (wire_frame){.kind = WIRE_JUNK};
}

/* --- writing --- */

/* Advances the parts past the written bytes. */
static void advance(struct iovec *parts, int count, int *first, size_t written) {
  while (*first < count && written >= parts[*first].iov_len)
    written -= parts[(*first)++].iov_len;
  if (*first == count) return;
  parts[*first].iov_base = (char *)parts[*first].iov_base + written;
  parts[*first].iov_len -= written;
}

/* Number of bytes written. If 0, *events is what to wait for, or 0 if the connection is lost. */
static size_t write_now(wire *w, struct iovec *parts, int count, short *events) {
  if (!w->ssl) {
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = (size_t)count};
    ssize_t written = sendmsg(w->fd, &message, MSG_NOSIGNAL);
    *events = written < 0 && errno == EAGAIN ? POLLOUT : 0;
    return written > 0 ? (size_t)written : 0;
  }
  ERR_clear_error();
  int written = SSL_write(w->ssl, parts->iov_base, (int)parts->iov_len);
  *events = written > 0 ? 0 : awaited(w->ssl, written);
  ERR_clear_error();
  return written > 0 ? (size_t)written : 0;
}

static int64_t earlier(int64_t one_ms, int64_t other_ms) {
  return one_ms < other_ms ? one_ms : other_ms;
}

/* With the lock held. A message that cannot be written completely ends the connection. */
static bool write_all(wire *w, const struct iovec *wanted, int count, int timeout_ms) {
  struct iovec parts[8];
  int first = 0;
  size_t bytes = 0;
  if (!is_ours(w)) return false;
  memcpy(parts, wanted, (size_t)count * sizeof *parts);
  for (int i = 0; i < count; i++)
    bytes += parts[i].iov_len;
  int64_t end_ms = flight_now_ms() + timeout_ms + wire_send_ms(bytes);
  for (advance(parts, count, &first, 0); first < count;) {
    short events;
    size_t written = write_now(w, parts + first, count - first, &events);
    if (written == 0 && (events == 0 || !wait_for(w->fd, events, earlier(flight_now_ms() + timeout_ms, end_ms)))) {
      w->ready = false;
      shutdown(w->fd, SHUT_RDWR); /* wakes the reading thread */
      return false;
    }
    advance(parts, count, &first, written);
  }
  return true;
}

/* OpenSSL writes without MSG_NOSIGNAL, and the caller's thread may not have SIGPIPE blocked. */
static bool write_quietly(wire *w, const struct iovec *parts, int count, int timeout_ms) {
  sigset_t pipe, before, pending;
  if (!w->ssl) return write_all(w, parts, count, timeout_ms);
  sigpending(&pending);
  bool was_pending = sigismember(&pending, SIGPIPE);
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  bool written = write_all(w, parts, count, timeout_ms);
  if (!written && !was_pending) sigtimedwait(&pipe, NULL, &(struct timespec){0});
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return written;
}

/* A mutex is not fair: over a slow link a thread that sends one batch after the other would keep the reading thread
 * from the acknowledgements until they are overdue. */
static void let_read(wire *w) {
  static const struct timespec moment = {0, 50000};
  while (__atomic_load_n(&w->reading, __ATOMIC_ACQUIRE))
    nanosleep(&moment, NULL);
}

bool wire_send(wire *w, const struct iovec *parts, int count, int timeout_ms) {
  let_read(w);
  pthread_mutex_lock(&w->sending);
  bool sent = w->ready && write_quietly(w, parts, count, timeout_ms);
  pthread_mutex_unlock(&w->sending);
  return sent;
}

bool wire_say(wire *w, const char *text) {
  struct iovec part = {(void *)text, strlen(text)};
  pthread_mutex_lock(&w->sending);
  bool sent = write_quietly(w, &part, 1, SAY_MS);
  pthread_mutex_unlock(&w->sending);
  return sent;
}

/* --- connecting and closing --- */

static wire_frame await_frame(wire *w, int64_t deadline_ms) {
  for (;;) {
    wire_frame frame = wire_next(w);
    int64_t left_ms = deadline_ms - flight_now_ms();
    if (frame.kind != WIRE_NOTHING || left_ms <= 0 || !wire_read(w, (int)left_ms)) return frame;
  }
}

static void learn(wire *w, const char *info) {
  const char *nonce = wire_json(info, "nonce"), *headers = wire_json(info, "headers"),
             *tls = wire_json(info, "tls_required"), *can_tls = wire_json(info, "tls_available");
  snprintf(w->nonce, sizeof w->nonce, "%.*s", nonce && *nonce == '"' ? (int)strcspn(nonce + 1, "\"") : 0,
           nonce ? nonce + 1 : "");
  w->headers = headers && strncmp(headers, "true", 4) == 0;
  w->wants_tls = tls && strncmp(tls, "true", 4) == 0;
  w->has_tls = w->wants_tls || (can_tls && strncmp(can_tls, "true", 4) == 0);
}

/* True for the server's login errors. */
static bool is_about_credentials(const char *error) {
  return strcasestr(error, "authorization violation") || strcasestr(error, "authentication expired") ||
         strcasestr(error, "authentication revoked");
}

static bool log_in(wire *w, const sink_security *security, const char *name, int64_t deadline_ms, nats_problem *problem,
                   char *detail, size_t detail_bytes) {
  char *login = login_new(security, name, w->nonce, w->ssl != NULL, detail, detail_bytes);
  *problem = NATS_UNREACHABLE;
  if (!login) return false;
  bool said = wire_say(w, login);
  login_free(login);
  snprintf(detail, detail_bytes, "the connection is closed");
  for (int frames = 0; said; frames++) {
    wire_frame frame = await_frame(w, deadline_ms);
    if (frame.kind == WIRE_PONG) return true;
    if (frame.kind == WIRE_ERROR) {
      if (is_about_credentials(frame.text)) *problem = NATS_REFUSES_CREDENTIALS;
      snprintf(detail, detail_bytes, "it says%s", frame.text);
      return false;
    }
    if (flight_now_ms() >= deadline_ms || frames + 1 == LOGIN_FRAMES_MOST) { /* the server may be faulty */
      snprintf(detail, detail_bytes, "no answer");
      return false;
    }
    said = frame.kind == WIRE_INFO || (frame.kind == WIRE_PING && wire_say(w, "PONG\r\n"));
  }
  if (!w->ssl) return false;
  /* In TLS 1.3 a server refuses the client's certificate only now, and its alert may be lost with the connection. */
  sink_alert alert = w->tls_error ? sink_alert_read(w->tls_error) : SINK_ALERT_NONE;
  if (alert == SINK_ALERT_OTHER)
    snprintf(detail, detail_bytes, "TLS: %s", w->tls_error);
  else
    *problem = NATS_HANGS_UP;
  return false;
}

static bool greet(wire *w, const char *host, const sink_security *security, const char *name, int64_t deadline_ms,
                  nats_problem *problem, char *detail, size_t detail_bytes) {
  wire_frame frame = await_frame(w, deadline_ms);
  snprintf(detail, detail_bytes, "%s",
           frame.kind == WIRE_JUNK          ? "the server there is not NATS"
           : flight_now_ms() >= deadline_ms ? "no answer"
                                            : "the connection is closed");
  if (frame.kind != WIRE_INFO) return false;
  learn(w, frame.text);
  if (!w->headers) {
    snprintf(detail, detail_bytes, "it is older than NATS 2.2");
    return false;
  }
  bool tls = w->wants_tls || security->tls;
  if (tls && !w->has_tls) {
    *problem = NATS_HAS_NO_TLS;
    return false;
  }
  if (tls && w->taken < w->used) { /* injected plaintext would be read as if it came over TLS */
    snprintf(detail, detail_bytes, "it sent data before the TLS handshake");
    return false;
  }
  return (!tls || begin_tls(w, host, security, deadline_ms, problem, detail, detail_bytes)) &&
         log_in(w, security, name, deadline_ms, problem, detail, detail_bytes);
}

bool wire_connect(wire *w, const char *host_port, const sink_security *security, const char *name, int timeout_ms,
                  nats_problem *problem, char *detail, size_t detail_bytes) {
  char host[256], port[16];
  if (w->tls) renew_tls(w, security); /* before connecting: loading a system's 100 or more CA certificates takes time */
  int64_t deadline_ms = flight_now_ms() + timeout_ms;
  split(host_port, host, sizeof host, port, sizeof port);
  *problem = NATS_UNREACHABLE;
  w->used = w->taken = 0;
  w->tls_error = NULL;
  snprintf(detail, detail_bytes, "no memory");
  if (make_room(w) && dial(w, host, port, deadline_ms, detail, detail_bytes) &&
      greet(w, host, security, name, deadline_ms, problem, detail, detail_bytes)) {
    snprintf(w->server, sizeof w->server, "%s", host_port);
    return true;
  }
  wire_close(w);
  return false;
}

void wire_open_to_all(wire *w) {
  pthread_mutex_lock(&w->sending);
  w->ready = true;
  pthread_mutex_unlock(&w->sending);
}

void wire_close(wire *w) {
  pthread_mutex_lock(&w->sending);
  w->ready = false;
  SSL_free(w->ssl);
  w->ssl = NULL;
  if (is_ours(w)) {
    shutdown(w->fd, SHUT_WR); /* a child may share the descriptor */
    close(w->fd);
  }
  w->fd = -1;
  pthread_mutex_unlock(&w->sending);
  free(w->in); /* its size depends on what the server sent */
  w->in = NULL;
  w->used = w->taken = w->room = 0;
  __atomic_store_n(&w->max_payload, 0, __ATOMIC_RELEASE);
}
