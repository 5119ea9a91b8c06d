/* A scripted NATS server in a thread of the test: it speaks the protocol, and answers each batch and each request to
 * JetStream as the test says. Every step waits for the previous one, so the outcome does not depend on the
 * scheduler. */
#ifndef LIFELINE_TEST_SCRIPTED_NATS_H
#define LIFELINE_TEST_SCRIPTED_NATS_H

#include <pthread.h>
#include <stdbool.h>

typedef enum scripted_answer {
  SAYS_NOTHING,
  ACKNOWLEDGES,
  HAS_IT_ALREADY,           /* a duplicate */
  HAD_THE_PREVIOUS_ALREADY, /* reports a duplicate of the previous batch, on any connection; stores this one */
  ACKNOWLEDGES_THE_FIRST,   /* acknowledges the connection's first batch, whichever this one is */
  HAS_NO_RESPONDERS,
  CLOSES_THE_CONNECTION,
  SAYS_WHY_AND_CLOSES,
} scripted_answer;

enum { SCRIPTED_SUBJECT_BYTES = 200, SCRIPTED_LINE_BYTES = 4096 };

typedef struct scripted_nats {
  pthread_mutex_t mutex;
  scripted_answer answers[8]; /* to the first batches of a connection */
  unsigned answer_count;
  scripted_answer afterwards; /* to all others */
  const char *greeting;       /* NULL: the INFO of a healthy server */
  bool listens;               /* only listens after the greeting */
  unsigned char alert;        /* TLS alert that a listening server then sends; 0: none */
  bool talks;                 /* sends irrelevant frames forever after the greeting */
  bool is_slow;               /* reads batches at 250 kB/s or less */
  bool refuses;               /* refuses every login */
  const char *streams;        /* JetStream's answer to STREAM.NAMES; NULL: none */
  unsigned questions;         /* number of such requests */
  unsigned connections;
  bool ending;
  int listener, port;
  pthread_t thread;
  char previous_reply[SCRIPTED_SUBJECT_BYTES];
  /* Of the current connection. */
  unsigned batches;
  char first_reply[SCRIPTED_SUBJECT_BYTES];
  char subscription[32];
  char login[SCRIPTED_LINE_BYTES]; /* first input; as raw bytes if it only listens */
  size_t login_bytes;
} scripted_nats;

/* Set its answers before the start. One connection at a time. */
void scripted_nats_start(scripted_nats *server);

/* From now on all batches get this answer. */
void scripted_nats_turn(scripted_nats *server, scripted_answer afterwards);

void scripted_nats_stop(scripted_nats *server);

#endif
