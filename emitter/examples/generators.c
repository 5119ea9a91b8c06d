/* Generators that publish messages and measure their round trip: the rows of R-GMA's table of generators, which
 * stream-jobs/ksql queries in SQL. A socket pair stands in for the middleware; replace it by yours.
 *
 *   LIFELINE_URL=kafka://localhost:9092 lifeline-generators 100
 */
#include <lifeline/events.h>
#include <lifeline/lifeline.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { GENERATORS = 3 };

typedef struct message {
  uint32_t generator;
  uint64_t sequence;
} message;

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int main(int count, char **arguments) {
  uint64_t messages = count > 1 ? strtoull(arguments[1], NULL, 10) : 20;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0) return perror("socketpair"), 1;
  for (uint64_t sequence = 0; sequence < messages; sequence++)
    for (uint32_t generator = 0; generator < GENERATORS; generator++) {
      message sent = {.generator = generator, .sequence = sequence}, received;
      int64_t before_sending = now_ns();
      if (write(ends[0], &sent, sizeof sent) != sizeof sent) return perror("write"), 1;
      int64_t after_sending = now_ns();
      int64_t before_receiving = now_ns(); /* a separate subscriber would wait here */
      if (read(ends[1], &received, sizeof received) != sizeof received) return perror("read"), 1;
      int64_t received_at = now_ns();
      ll_emit(generator_measurement, received.generator, received.sequence, received_at - before_sending,
              after_sending - before_sending, before_receiving - after_sending, received_at - before_receiving,
              sizeof received);
    }
}
