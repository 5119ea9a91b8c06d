/* bench-emit: the cost of an event in the emitting program, with the harvester running into null:.
 *
 * A repetition consists of many bursts, each preceded by a burst of the floor. The rings are drained between bursts, so
 * that only the burst itself has to fit. With far more --events the harvester has to keep up; events that it does not
 * take in time are lost and counted. This is an ordinary program, linked to liblifeline.so.
 */
#include "floor.h"
#include "options.h"
#include "row.h"

#include <lifeline/lifeline.h>

#include <getopt.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

LL_EVENT(table1, "bench.table1", LL_INFO, (i32, count, ""), (f32, value, ""));
LL_EVENT(string16, "bench.string16", LL_INFO, (i32, count, ""), (f32, value, ""), (string, text, ""));

static const char usage[] =
    "Usage: bench-emit --name ROW [--case table1|string16] [--threads N] [--events N] [--bursts N] [--repetitions N]\n"
    "\n"
    "Prints one row of the benchmark as JSON: nanoseconds per event and thread, and the floor's.\n"
    "--events per burst and thread (50000), --bursts per repetition (100), --repetitions (11).\n";

enum { THREADS_MAX = 64, FLUSH_MS = 10000 };

typedef struct task {
  void (*emit)(uint64_t events);
  uint64_t events, bursts;
  unsigned threads;
  pthread_barrier_t begin, step, end;
  row_sample sums[THREADS_MAX];
} task;

static task work;

__attribute__((noinline)) static void emit_table1(uint64_t events) {
  for (uint64_t i = 0; i < events; i++)
    ll_emit(table1, (int32_t)i, (float)i);
}

__attribute__((noinline)) static void emit_string16(uint64_t events) {
  const char *text = "0123456789abcdef";
  for (uint64_t i = 0; i < events; i++) {
    __asm__ volatile("" : "+r"(text)); /* hides the length from the compiler */
    ll_emit(string16, (int32_t)i, (float)i, text);
  }
}

/* All threads start each of the two measurements together. */
static void burst(row_sample *sum) {
  pthread_barrier_wait(&work.step);
  sum->floor += floor_run(work.events);
  pthread_barrier_wait(&work.step);
  uint64_t began = now_ns();
  work.emit(work.events);
  sum->value += (double)(now_ns() - began) / (double)work.events;
  if (pthread_barrier_wait(&work.step) == PTHREAD_BARRIER_SERIAL_THREAD) ll_flush(FLUSH_MS);
}

static void *worker(void *own_sum) {
  row_sample *sum = own_sum;
  for (;;) {
    pthread_barrier_wait(&work.begin);
    *sum = (row_sample){0, 0};
    for (uint64_t i = 0; i < work.bursts; i++)
      burst(sum);
    pthread_barrier_wait(&work.end);
  }
  return NULL;
}

/* The mean of all threads' bursts. */
static row_sample repeat(void *unused) {
  (void)unused;
  row_sample mean = {0, 0};
  pthread_barrier_wait(&work.begin);
  pthread_barrier_wait(&work.end);
  for (unsigned i = 0; i < work.threads; i++) {
    mean.value += work.sums[i].value / (double)(work.bursts * work.threads);
    mean.floor += work.sums[i].floor / (double)(work.bursts * work.threads);
  }
  return mean;
}

static uint64_t lost(void) {
  ll_statistics now = {.size = sizeof now};
  ll_stats(&now);
  return now.dropped_ring_full + now.dropped_no_ring;
}

/* Shows whether the row measured what its name says. */
static void print_counts(char *details, size_t bytes) {
  ll_statistics now = {.size = sizeof now};
  ll_stats(&now);
  snprintf(details, bytes, "\"emitted\":%llu,\"folded\":%llu,\"below_threshold\":%llu", (unsigned long long)now.emitted,
           (unsigned long long)now.folded, (unsigned long long)now.below_threshold);
}

static bool choose(const char *name) {
  work.emit = strcmp(name, "table1") == 0 ? emit_table1 : strcmp(name, "string16") == 0 ? emit_string16 : NULL;
  return work.emit != NULL;
}

int main(int argc, char **argv) {
  static const struct option names[] = {
      {"name", required_argument, NULL, 'n'},    {"case", required_argument, NULL, 'c'},
      {"threads", required_argument, NULL, 't'}, {"events", required_argument, NULL, 'e'},
      {"bursts", required_argument, NULL, 'b'},  {"repetitions", required_argument, NULL, 'r'},
      {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0}};
  uint64_t threads = 1, repetitions = 11;
  const char *name = NULL;
  bool legal = true;
  work = (task){.emit = emit_table1, .events = 50000, .bursts = 100};
  for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
    switch (option) {
    case 'n': name = optarg; break;
    case 'c': legal = legal && choose(optarg); break;
    case 't': legal = legal && parse_number(optarg, 1, THREADS_MAX, &threads); break;
    case 'e': legal = legal && parse_number(optarg, 1, 1u << 30, &work.events); break;
    case 'b': legal = legal && parse_number(optarg, 1, 1u << 20, &work.bursts); break;
    case 'r': legal = legal && parse_number(optarg, 1, ROW_REPETITIONS_MAX, &repetitions); break;
    case 'h': fputs(usage, stdout); return 0;
    default: legal = false;
    }
  }
  if (!legal || name == NULL || optind != argc) {
    fputs("bench-emit: wrong usage (try --help)\n", stderr);
    return 2;
  }
  ll_options options = LL_OPTIONS_INIT;
  options.url = "null:";
  if (ll_init(&options) != 0) return 1;

  work.threads = (unsigned)threads;
  pthread_barrier_init(&work.begin, NULL, work.threads + 1);
  pthread_barrier_init(&work.step, NULL, work.threads);
  pthread_barrier_init(&work.end, NULL, work.threads + 1);
  for (unsigned i = 0; i < work.threads; i++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, worker, &work.sums[i]) != 0) return 1;
    pthread_detach(thread);
  }
  row_measure(&(bench_row){
      .name = name, .repetitions = (unsigned)repetitions, .repeat = repeat, .lost = lost, .details = print_counts});
  return ll_shutdown(FLUSH_MS) != 0;
}
