/* A NATS server in a thread of the test, with a script in place of a stream: it speaks the protocol, and answers each
 * batch, and each question to JetStream, as the test says. Every step waits for the previous one, so the outcome does
 * not depend on the scheduler. */
#ifndef LIFELINE_TEST_SCRIPTED_NATS_H
#define LIFELINE_TEST_SCRIPTED_NATS_H

#include <pthread.h>
#include <stdbool.h>

typedef enum scripted_answer {
  SAYS_NOTHING,
  ACKNOWLEDGES,
  HAS_IT_ALREADY,           /* a duplicate */
  HAD_THE_PREVIOUS_ALREADY, /* a duplicate, of the batch before this one, on whatever connection; this one is stored */
  ACKNOWLEDGES_THE_FIRST,   /* the first batch of the connection, whatever this one is */
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
  bool listens;               /* and nothing else, after the greeting */
  unsigned char alert;        /* of TLS, which one that listens then sends; 0: none */
  bool talks;                 /* after the greeting, without end, and of nothing */
  bool refuses;               /* every login */
  const char *streams;        /* what JetStream says to STREAM.NAMES; NULL: nothing */
  unsigned questions;         /* of those so far */
  unsigned connections;
  bool ending;
  int listener, port;
  pthread_t thread;
  char previous_reply[SCRIPTED_SUBJECT_BYTES];
  /* Of the current connection. */
  unsigned batches;
  char first_reply[SCRIPTED_SUBJECT_BYTES];
  char subscription[32];
  char login[SCRIPTED_LINE_BYTES]; /* what came first; of one that listens, as bytes */
  size_t login_bytes;
} scripted_nats;

/* Fill in what it answers first. One connection at a time. */
void scripted_nats_start(scripted_nats *server);

/* From now on all batches are answered so. */
void scripted_nats_turn(scripted_nats *server, scripted_answer afterwards);

void scripted_nats_stop(scripted_nats *server);

#endif
