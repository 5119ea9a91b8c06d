#include "rival.h"

#include "floor.h"
#include "options.h"
#include "row.h"

#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char usage[] = "Usage: bench-rival-NAME --name ROW [--burst N] [--bursts N] [--repetitions N]\n"
                            "\n"
                            "Prints one row of the benchmark as JSON: nanoseconds per event, and the floor's.\n"
                            "--burst events without a pause (what the rival's buffers hold), --bursts per repetition\n"
                            "(20), --repetitions (11).\n";

static const rival *measured;
static uint64_t burst_events, bursts = 20;

static uint8_t buffer[RIVAL_BUFFER_BYTES];
static size_t used;
static uint64_t encoded_bytes, encoded_events;
static int nowhere = -1;

uint8_t *rival_room(void) {
  if (used + RIVAL_EVENT_MAX > sizeof buffer) {
    if (write(nowhere, buffer, used) != (ssize_t)used) abort();
    encoded_bytes += used;
    used = 0;
  }
  return buffer + used;
}

void rival_wrote(size_t bytes) {
  used += bytes;
  __asm__ volatile("" ::: "memory");
}

double rival_bytes(void) {
  return (double)(encoded_bytes + used) / (double)encoded_events;
}

static row_sample repeat(void *unused) {
  (void)unused;
  row_sample mean = {0, 0};
  for (uint64_t i = 0; i < bursts; i++) {
    mean.floor += floor_run(burst_events) / (double)bursts;
    uint64_t began = now_ns();
    measured->emit(burst_events);
    mean.value += (double)(now_ns() - began) / (double)burst_events / (double)bursts;
    encoded_events += burst_events;
    if (measured->drain != NULL) measured->drain();
  }
  return mean;
}

int rival_main(int argc, char **argv, const rival *rival_to_measure) {
  static const struct option names[] = {
      {"name", required_argument, NULL, 'n'},   {"burst", required_argument, NULL, 'u'},
      {"bursts", required_argument, NULL, 'b'}, {"repetitions", required_argument, NULL, 'r'},
      {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0}};
  const char *name = NULL;
  uint64_t repetitions = 11;
  bool legal = true;
  measured = rival_to_measure;
  burst_events = measured->burst;
  for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
    switch (option) {
    case 'n': name = optarg; break;
    case 'u': legal = legal && parse_number(optarg, 1, 1u << 30, &burst_events); break;
    case 'b': legal = legal && parse_number(optarg, 1, 1u << 20, &bursts); break;
    case 'r': legal = legal && parse_number(optarg, 1, ROW_REPETITIONS_MAX, &repetitions); break;
    case 'h': fputs(usage, stdout); return 0;
    default: legal = false;
    }
  }
  nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (!legal || name == NULL || optind != argc || nowhere < 0) {
    fprintf(stderr, "%s: wrong usage (try --help)\n", argv[0]);
    return 2;
  }
  row_measure(
      &(bench_row){.name = name, .repetitions = (unsigned)repetitions, .repeat = repeat, .lost = measured->lost});
  if (measured->finish != NULL) measured->finish();
  /* Printed separately: the size of an event is known only after all are stored. */
  printf("{\"events\":%llu,\"bytes_per_event\":%.2f}\n", (unsigned long long)encoded_events,
         measured->bytes != NULL ? measured->bytes() : 0);
  return 0;
}
