/* lifeline-doctor, then the sinks, on healthy and faulty brokers. */
#include "troubles.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

const char *scheme;
broker plain, guarded;

bool is_nats(void) {
  return strcmp(scheme, "nats") == 0;
}

int main(int argc, char **argv) {
  if (argc != 2 || (strcmp(argv[1], "nats") != 0 && strcmp(argv[1], "kafka") != 0)) {
    fputs("Usage: troubles_sink_test nats|kafka\n", stderr);
    return 2;
  }
  scheme = argv[1];
  int failed = doctor_tests();
  failed += fault_tests();
  broker_stop(&plain);
  broker_stop(&guarded);
  return failed;
}
