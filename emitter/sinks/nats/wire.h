/* One connection to a NATS server: a socket, TLS if required, and the protocol's frames.
 *
 * The sink does not use nats.c, which does not work in a forked child: its threads and the state behind its inbox names
 * are per process, are copied by fork, and cannot be reset (ARCHITECTURE.md). Here all state belongs to the connection,
 * so that a child can open its own.
 *
 * One thread connects, reads and closes; any thread may send.
 */
#ifndef LIFELINE_NATS_WIRE_H
#define LIFELINE_NATS_WIRE_H

#include <openssl/ssl.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "explain.h"

typedef struct wire {
  SSL_CTX *tls; /* NULL: no TLS, unless the server requires it */
  int fd;       /* -1: not connected */
  ino_t inode;  /* of the socket: detects that the program closed fd and reused its number */
  SSL *ssl;
  const char *tls_error;   /* OpenSSL's reason of a read error; NULL: no TLS error */
  pthread_mutex_t sending; /* held while writing and in calls of OpenSSL */
  bool reading;            /* the reading thread waits for that lock */
  bool ready;              /* any thread may send */
  char *in;                /* bytes read; frames before `taken` were returned */
  size_t used, taken, room;
  int64_t heard_ms; /* time of the last read */
  int64_t max_payload;
  char server[256];
  char nonce[256];
  bool headers; /* the server supports them */
  bool wants_tls, has_tls;
} wire;

typedef enum wire_kind { WIRE_NOTHING, WIRE_MESSAGE, WIRE_PING, WIRE_PONG, WIRE_ERROR, WIRE_INFO, WIRE_JUNK } wire_kind;

/* Texts end with a NUL; valid until the next call. */
typedef struct wire_frame {
  wire_kind kind;
  const char *text; /* of WIRE_ERROR and WIRE_INFO */
  /* Of a message: */
  const char *subject;
  const char *reply; /* "" if there is none */
  unsigned subscription;
  const char *headers; /* "" if there are none; else lines, first "NATS/1.0[ status]" */
  const char *data;
  size_t bytes;
} wire_frame;

/* Reads CA certificates, certificate and key. On failure writes one line into error. */
bool wire_init(wire *w, const sink_security *security, char *error, size_t error_bytes);
void wire_destroy(wire *w);

/* Connects to "host:port" and logs in. On failure problem and detail say why. */
bool wire_connect(wire *w, const char *host, const sink_security *security, const char *name, int timeout_ms,
                  nats_problem *problem, char *detail, size_t detail_bytes);

/* After it any thread may send. */
void wire_open_to_all(wire *w);

void wire_close(wire *w);

/* The next frame received, or WIRE_NOTHING. */
wire_frame wire_next(wire *w);

/* Waits for input and reads it. False if the connection is lost. */
bool wire_read(wire *w, int timeout_ms);

/* How long that many bytes take on the slowest link that is supported, at 160 kB/s. */
static inline int64_t wire_send_ms(size_t bytes) {
  return (int64_t)(bytes / 160);
}

/* Thread-safe after wire_open_to_all; at most 8 parts. False if nothing was sent or the connection is lost. A socket
 * that takes nothing for timeout_ms, or not everything within timeout_ms and wire_send_ms, loses the connection. */
bool wire_send(wire *w, const struct iovec *parts, int count, int timeout_ms);

/* Sends a text. Only for the reading thread, also before wire_open_to_all. */
bool wire_say(wire *w, const char *text);

/* Points to the value of a key in the server's JSON, which is compact, so that a key is found by a text search. NULL if
 * there is none. */
const char *wire_json(const char *json, const char *key);

#endif
