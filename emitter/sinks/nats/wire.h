/* One connection to a NATS server: a socket, TLS on it where that is wanted, and the protocol's frames.
 *
 * The sink speaks NATS itself, since nats.c cannot be used in a forked child: its threads, and the state that names its
 * inboxes, are the process', are copied by fork, and cannot be made anew (ARCHITECTURE.md). Here all state is the
 * connection's, so a child's first connection is as good as its parent's.
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
  SSL_CTX *tls; /* NULL: without, unless the server wants it */
  int fd;       /* -1: there is no connection */
  ino_t
      inode; /* of the socket: a program that closes all of its descriptors may have given the number to another file */
  SSL *ssl;
  const char *tls_error;   /* why reading failed, in OpenSSL's words; NULL: for no reason of TLS */
  pthread_mutex_t sending; /* held while anything is written, and while OpenSSL is at work */
  bool ready;              /* any thread may send */
  char *in;                /* what was read; frames before `taken` were handed out */
  size_t used, taken, room;
  int64_t heard_ms; /* when something was read last */
  int64_t max_payload;
  char server[256];
  char nonce[256];
  bool headers; /* the server knows them */
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
  const char *headers; /* "" if there are none; else lines, the first of them "NATS/1.0[ status]" */
  const char *data;
  size_t bytes;
} wire_frame;

/* Reads authority and certificates. On failure writes one line into error. */
bool wire_init(wire *w, const sink_security *security, char *error, size_t error_bytes);
void wire_destroy(wire *w);

/* Connects and logs in to one of these "host:port". On failure says why. */
bool wire_connect(wire *w, const char *host, const sink_security *security, const char *name, int timeout_ms,
                  nats_problem *problem, char *detail, size_t detail_bytes);

/* From now on any thread may send. */
void wire_open_to_all(wire *w);

void wire_close(wire *w);

/* The next frame of what was read, or WIRE_NOTHING. */
wire_frame wire_next(wire *w);

/* Waits for something to read, and reads it. False: the connection is lost. */
bool wire_read(wire *w, int timeout_ms);

/* Any thread, once it is open to all: at most 8 parts. False: nothing was sent, or the connection is lost, as it is
 * when the socket does not take all of it in time. */
bool wire_send(wire *w, const struct iovec *parts, int count, int timeout_ms);

/* The thread that reads, at any time. */
bool wire_say(wire *w, const char *text);

/* The value of a key in a server's JSON, up to its end: the server writes compactly, so that finding a key is finding
 * its text. NULL if there is none. */
const char *wire_json(const char *json, const char *key);

#endif
