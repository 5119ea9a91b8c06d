/* A server that is none: it takes a broker's port, and says nothing to whoever connects, hangs up, or shows a
 * certificate that has expired or is another's. */
#ifndef LIFELINE_TEST_FAULTY_H
#define LIFELINE_TEST_FAULTY_H

#include <pthread.h>
#include <stdbool.h>

typedef enum faulty_manner {
  ACCEPTS_AND_NEVER_ANSWERS,
  CLOSES_EVERY_CONNECTION,
  SHOWS_AN_EXPIRED_CERTIFICATE,
  SHOWS_ANOTHERS_CERTIFICATE,
  FAILS_WITH_AN_INTERNAL_ERROR /* after the handshake of TLS 1.3, while it checks the client's certificate */
} faulty_manner;

typedef struct faulty {
  faulty_manner manner;
  struct ssl_ctx_st *tls;
  bool greets; /* as NATS does before TLS */
  int listener;
  int port;
  unsigned connections;
  bool ending;
  pthread_t thread;
} faulty;

/* port 0 chooses one. Stops the test if it cannot listen. The certificate is made with the authority of a broker's
 * directory. */
void faulty_start(faulty *f, faulty_manner manner, int port, const char *directory, bool greets);
void faulty_stop(faulty *f);

#endif
