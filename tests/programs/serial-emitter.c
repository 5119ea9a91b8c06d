/* Emits numbered events and notes, outside of liblifeline, how far it came, so that after any death of this process a
 * test knows which events must be in the archive.
 *
 * Each thread emits test.serial {run, worker, serial} with serials 0, 1, 2 ... After each emit that returned it stores
 * the number of them in a file mapped shared, which survives SIGKILL. So with N in the file, serials 0 to N-1 were
 * emitted, and N may have been: the process may have died between the emit and the store.
 *
 * SIGTERM ends the emitting before all events are out; the rest of the program's life is as ever: flush, report, exit.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <glob.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <lifeline/lifeline.h>

LL_EVENT(test_serial, "test.serial", LL_INFO, (u32, run, ""), (u32, worker, ""), (u64, serial, ""));

static const char HELP[] =
    "Usage: serial-emitter --side FILE [--run N] [--threads N] [--events N] [--rate N]\n"
    "\n"
    "  --side FILE  where each thread's count goes: one cache line of 64 bytes per thread, count in the first 8\n"
    "  --run N      goes into each event; default 0\n"
    "  --threads N  default 2\n"
    "  --events N   in all; default 1000000\n"
    "  --rate N     events per second in all; default 0, as fast as it goes\n";

enum { MAX_THREADS = 64, BURST = 256 };

struct side {
  _Alignas(64) volatile uint64_t returned;
};

struct worker {
  pthread_t thread;
  struct side *side;
  uint32_t run, number;
  uint64_t events;
  double rate;
  double longest_pause_s; /* what BURST emits took at most, time that the rate left over not counted */
  double waited_s;        /* for a processor */
};

static volatile sig_atomic_t stopped;

static void stop(int number) {
  (void)number;
  stopped = 1;
}

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void sleep_until(const struct timespec *start, double seconds) {
  int64_t ns = start->tv_nsec + (int64_t)(seconds * 1e9);
  struct timespec until = {.tv_sec = start->tv_sec + ns / 1000000000, .tv_nsec = ns % 1000000000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
    continue;
}

/* for how long a thread has been ready to run and had no processor; 0 where the kernel does not say */
static double waited_s(const char *schedstat) {
  unsigned long long ran_ns, waited_ns = 0;
  FILE *file = fopen(schedstat, "re");
  if (file != NULL) {
    if (fscanf(file, "%llu %llu", &ran_ns, &waited_ns) != 2) waited_ns = 0;
    fclose(file);
  }
  return (double)waited_ns / 1e9;
}

/* the same of all threads that are left: those of the library, and this one, which only waits for the others */
static double rest_waited_s(void) {
  double sum_s = 0;
  glob_t threads;
  if (glob("/proc/self/task/*/schedstat", 0, NULL, &threads) != 0) return 0;
  for (size_t i = 0; i < threads.gl_pathc; i++)
    sum_s += waited_s(threads.gl_pathv[i]);
  globfree(&threads);
  return sum_s;
}

static void *work(void *argument) {
  struct worker *worker = argument;
  struct timespec start;
  clock_gettime(CLOCK_MONOTONIC, &start);
  double burst_began = seconds_now();
  for (uint64_t serial = 0; serial < worker->events; serial++) {
    if (serial % BURST == 0) {
      double pause = seconds_now() - burst_began;
      if (pause > worker->longest_pause_s) worker->longest_pause_s = pause;
      if (stopped) break;
      if (worker->rate > 0) sleep_until(&start, (double)serial / worker->rate);
      burst_began = seconds_now();
    }
    ll_emit(test_serial, worker->run, worker->number, serial);
    __atomic_store_n(&worker->side->returned, serial + 1, __ATOMIC_RELEASE);
  }
  worker->waited_s = waited_s("/proc/thread-self/schedstat");
  return NULL;
}

static _Noreturn void die(const char *what) {
  fprintf(stderr, "serial-emitter: %s: %s\n", what, strerror(errno));
  exit(1);
}

static struct side *map_side(const char *path, unsigned threads) {
  int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  size_t bytes = threads * sizeof(struct side);
  if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0) die(path);
  struct side *side = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (side == MAP_FAILED) die(path);
  close(fd);
  return side;
}

int main(int argc, char **argv) {
  static const struct option OPTIONS[] = {
      {"side", required_argument, NULL, 's'},
      {"run", required_argument, NULL, 'r'},
      {"threads", required_argument, NULL, 't'},
      {"events", required_argument, NULL, 'e'},
      {"rate", required_argument, NULL, 'a'},
      {"help", no_argument, NULL, 'h'},
      {0},
  };
  static struct worker workers[MAX_THREADS];
  const char *path = NULL;
  uint32_t run = 0;
  unsigned threads = 2;
  uint64_t events = 1000000;
  double rate = 0;
  int option;
  while ((option = getopt_long(argc, argv, "h", OPTIONS, NULL)) != -1) {
    switch (option) {
    case 's': path = optarg; break;
    case 'r': run = (uint32_t)strtoul(optarg, NULL, 10); break;
    case 't': threads = (unsigned)strtoul(optarg, NULL, 10); break;
    case 'e': events = strtoull(optarg, NULL, 10); break;
    case 'a': rate = strtod(optarg, NULL); break;
    case 'h': fputs(HELP, stdout); return 0;
    default: fputs(HELP, stderr); return 2;
    }
  }
  if (path == NULL || threads < 1 || threads > MAX_THREADS) {
    fputs(HELP, stderr);
    return 2;
  }

  struct side *side = map_side(path, threads);
  signal(SIGTERM, stop);
  ll_init(NULL);
  double began = seconds_now();
  for (unsigned i = 0; i < threads; i++) {
    workers[i] = (struct worker){.side = &side[i],
                                 .run = run,
                                 .number = i,
                                 .events = events / threads + (i < events % threads),
                                 .rate = rate / threads};
    if ((errno = pthread_create(&workers[i].thread, NULL, work, &workers[i])) != 0) die("pthread_create");
  }
  for (unsigned i = 0; i < threads; i++)
    pthread_join(workers[i].thread, NULL);
  double seconds = seconds_now() - began, longest_pause_s = 0, most_waited_s = 0;
  for (unsigned i = 0; i < threads; i++) {
    if (workers[i].longest_pause_s > longest_pause_s) longest_pause_s = workers[i].longest_pause_s;
    if (workers[i].waited_s > most_waited_s) most_waited_s = workers[i].waited_s;
  }
  double library_waited_s = rest_waited_s();

  /* what the emitter itself says, to be compared with the archive */
  int flushed = ll_flush(60000);
  ll_statistics statistics = {.size = sizeof statistics};
  ll_stats(&statistics);
  uint64_t dropped = statistics.dropped_ring_full + statistics.dropped_no_ring + statistics.dropped_reentrant +
                     statistics.dropped_oversize + statistics.dropped_shutdown + statistics.dropped_sink;
  printf("{\"on\":%d,\"emitted\":%" PRIu64 ",\"dropped\":%" PRIu64 ",\"flushed\":%s,\"seconds\":%.3f,"
         "\"longest_pause_ms\":%.3f,\"waited_s\":%.3f,\"library_waited_s\":%.3f}\n",
         statistics.on, statistics.emitted, dropped, flushed == 0 ? "true" : "false", seconds, longest_pause_s * 1e3,
         most_waited_s, library_waited_s);
  return 0;
}
