/* bench-switchable: many processes, each an emitter whose details can be switched on.
 *
 * Each process first emits bench.started, so that readers know it, then one event of each of the three debug types per
 * --pause-ms. Repetitions switch on different types: what is still under way of one is not taken for the next one.
 */
#include "options.h"

#include <lifeline/lifeline.h>

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

LL_EVENT(started, "bench.started", LL_INFO, (u32, number, ""));
LL_EVENT(switched1, "bench.switched1", LL_DEBUG, (u64, serial, ""));
LL_EVENT(switched2, "bench.switched2", LL_DEBUG, (u64, serial, ""));
LL_EVENT(switched3, "bench.switched3", LL_DEBUG, (u64, serial, ""));

static const char usage[] = "Usage: bench-switchable --emitters N [--pause-ms N]\n"
                            "\n"
                            "Runs N processes that emit until standard input ends.\n"
                            "--pause-ms between two events of a type (100).\n";

enum { EMITTERS_MAX = 10000, START_PAUSE_MS = 40 };

static void pause_ms(uint64_t milliseconds) {
  struct timespec pause = {(time_t)(milliseconds / 1000), (long)(milliseconds % 1000) * 1000000};
  nanosleep(&pause, NULL);
}

static void emit(uint32_t number, uint64_t pause) {
  ll_emit(started, number);
  for (uint64_t serial = 1;; serial++) {
    ll_emit(switched1, serial);
    ll_emit(switched2, serial);
    ll_emit(switched3, serial);
    pause_ms(pause);
  }
}

/* Returns the number of processes that were started. */
static uint64_t start(pid_t *processes, uint64_t emitters, uint64_t pause) {
  pid_t parent = getpid();
  for (uint64_t i = 0; i < emitters; i++) {
    processes[i] = fork();
    if (processes[i] < 0) {
      perror("bench-switchable: fork");
      return i;
    }
    if (processes[i] == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() == parent) emit((uint32_t)i, pause);
      _exit(0);
    }
    pause_ms(START_PAUSE_MS); /* a start takes about 40 ms of a processor: all at once would time out */
  }
  return emitters;
}

int main(int argc, char **argv) {
  static const struct option names[] = {{"emitters", required_argument, NULL, 'e'},
                                        {"pause-ms", required_argument, NULL, 'p'},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};
  static pid_t processes[EMITTERS_MAX];
  uint64_t emitters = 0, pause = 100;
  bool legal = true;
  for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
    switch (option) {
    case 'e': legal = legal && parse_number(optarg, 1, EMITTERS_MAX, &emitters); break;
    case 'p': legal = legal && parse_number(optarg, 1, 60000, &pause); break;
    case 'h': fputs(usage, stdout); return 0;
    default: legal = false;
    }
  }
  if (!legal || emitters == 0 || optind != argc) {
    fputs("bench-switchable: wrong usage (try --help)\n", stderr);
    return 2;
  }
  uint64_t running = start(processes, emitters, pause);
  char byte;
  while (running == emitters && read(STDIN_FILENO, &byte, 1) > 0) {
  }
  for (uint64_t i = 0; i < running; i++)
    kill(processes[i], SIGKILL);
  for (uint64_t i = 0; i < running; i++)
    waitpid(processes[i], NULL, 0);
  return running == emitters ? 0 : 1;
}
