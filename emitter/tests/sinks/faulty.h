/* A faulty server on a broker's port: it accepts connections and never answers, closes them, or shows an expired or
 * foreign certificate. */
#ifndef LIFELINE_TEST_FAULTY_H
#define LIFELINE_TEST_FAULTY_H

#include <pthread.h>
#include <stdbool.h>

typedef enum faulty_manner {
  ACCEPTS_AND_NEVER_ANSWERS,
  CLOSES_EVERY_CONNECTION,
  SHOWS_AN_EXPIRED_CERTIFICATE,
  SHOWS_ANOTHERS_CERTIFICATE,
  FAILS_WITH_AN_INTERNAL_ERROR /* after the TLS 1.3 handshake, while it checks the client's certificate */
} faulty_manner;

typedef struct faulty {
  faulty_manner manner;
  struct ssl_ctx_st *tls;
  bool greets; /* sends a greeting, like NATS before TLS */
  int listener;
  int port;
  unsigned connections;
  bool ending;
  pthread_t thread;
} faulty;

/* port 0 chooses one. Fails the test if it cannot listen. The certificate is signed by the CA of a broker's
 * directory. */
void faulty_start(faulty *f, faulty_manner manner, int port, const char *directory, bool greets);
void faulty_stop(faulty *f);

#endif
