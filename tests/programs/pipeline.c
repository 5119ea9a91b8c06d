/* A pipeline of pools of threads with a bounded queue before each, whose bottleneck is known: what each stage does to a
 * block is given on the command line. Each operation is measured by a caliper, stage.a to stage.d, or by a pair of
 * events, step.a to step.d.
 *
 * At the end it prints the blocks per second, and how much of the time of its threads each stage was at work.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <lifeline/caliper.h>
#include <lifeline/lifeline.h>

#define STAGE(letter)                                                                                                  \
  LL_CALIPER(stage_##letter, "stage." #letter, LL_INFO, "B");                                                          \
  LL_EVENT(start_##letter, "step." #letter ".start", LL_INFO, (u64, id, ""));                                          \
  LL_EVENT(end_##letter, "step." #letter ".end", LL_INFO, (u64, id, ""), (u32, nbytes, "B"))

STAGE(a);
STAGE(b);
STAGE(c);
STAGE(d);

static const char HELP[] =
    "Usage: pipeline calipers|events SECONDS QUEUE STAGE...\n"
    "\n"
    "  SECONDS  how long the first stage begins blocks\n"
    "  QUEUE    blocks between two stages\n"
    "  STAGE    THREADS:MODEL:MS..., at most four; -THREADS:... is not measured\n"
    "\n"
    "Models, in milliseconds; the first stage of a pipeline may be any but skew:\n"
    "  sleep:MS               waits, as for a disk\n"
    "  burn:MS                computes\n"
    "  lock:MS                waits, one thread at a time\n"
    "  skew:MS:PERCENT        a queue for each thread, of which the first gets PERCENT of the blocks\n"
    "  switch:MS:MS2:EVERY    MS and MS2 in turn\n"
    "  stall:MS:EVERY:LONG    one operation takes LONG longer each EVERY\n"
    "  burst:MS:BLOCKS:PAUSE  pauses before each BLOCKS blocks, outside of the operation\n"
    "  closed:MS              begins a block when the previous one has passed the last stage\n";

enum { MAX_STAGES = 4, MAX_THREADS = 32, PARAMETERS = 3, BLOCK = 65536 };

struct queue {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int length, capacity;
};

struct stage {
  const char *model;
  double ms[PARAMETERS];
  int number, threads;
  bool is_measured;
  pthread_mutex_t lock;
  double stalled_s;
  _Atomic uint64_t busy_ns;
  struct queue queues[MAX_THREADS]; /* the first is that of all, without skew */
};

struct worker {
  struct stage *stage;
  int number;
  pthread_t thread;
};

static struct stage stages[MAX_STAGES];
static int stage_count;
static double begun_s, end_s;
static atomic_ulong blocks, finished, ids;
static bool has_calipers;

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void wait_ms(double ms) {
  struct timespec left = {.tv_sec = (time_t)(ms / 1e3), .tv_nsec = (long)(ms * 1e6) % 1000000000};
  while (nanosleep(&left, &left) != 0) {
  }
}

static double thread_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void compute_ms(double ms) {
  double until = thread_seconds() + ms * 1e-3;
  while (thread_seconds() < until) {
  }
}

/* Adds a block to the queue, or takes one from it. */
static void move(struct queue *queue, int change) {
  pthread_mutex_lock(&queue->lock);
  while (queue->length + change < 0 || queue->length + change > queue->capacity) {
    pthread_cond_wait(&queue->changed, &queue->lock);
  }
  queue->length += change;
  pthread_cond_broadcast(&queue->changed);
  pthread_mutex_unlock(&queue->lock);
}

static bool is(const struct stage *stage, const char *model) {
  return strcmp(stage->model, model) == 0;
}

static bool stalls_now(struct stage *stage) {
  double now = seconds_now();
  pthread_mutex_lock(&stage->lock);
  bool stalls = now - stage->stalled_s >= stage->ms[1] * 1e-3;
  if (stalls) {
    stage->stalled_s = now;
  }
  pthread_mutex_unlock(&stage->lock);
  return stalls;
}

static void work(struct stage *stage) {
  if (is(stage, "burn")) {
    compute_ms(stage->ms[0]);
  } else if (is(stage, "lock")) {
    pthread_mutex_lock(&stage->lock);
    wait_ms(stage->ms[0]);
    pthread_mutex_unlock(&stage->lock);
  } else if (is(stage, "switch")) {
    bool is_second = (long)((seconds_now() - begun_s) * 1e3 / stage->ms[2]) % 2 != 0;
    wait_ms(stage->ms[is_second]);
  } else if (is(stage, "stall")) {
    wait_ms(stage->ms[0] + (stalls_now(stage) ? stage->ms[2] : 0));
  } else {
    wait_ms(stage->ms[0]);
  }
}

#define MEASURED(letter)                                                                                               \
  do {                                                                                                                 \
    if (has_calipers) {                                                                                                \
      ll_operation operation = ll_begin(stage_##letter);                                                               \
      work(stage);                                                                                                     \
      ll_end(stage_##letter, operation, BLOCK);                                                                        \
    } else {                                                                                                           \
      uint64_t id = atomic_fetch_add(&ids, 1);                                                                         \
      ll_emit(start_##letter, id);                                                                                     \
      work(stage);                                                                                                     \
      ll_emit(end_##letter, id, BLOCK);                                                                                \
    }                                                                                                                  \
  } while (0)

static void measured_work(struct stage *stage) {
  switch (stage->number) {
  case 0: MEASURED(a); break;
  case 1: MEASURED(b); break;
  case 2: MEASURED(c); break;
  default: MEASURED(d);
  }
}

static void begin_block(const struct stage *source) {
  unsigned long block = atomic_fetch_add(&blocks, 1);
  if (is(source, "burst") && block % (unsigned long)source->ms[1] == 0) {
    wait_ms(source->ms[2]);
  }
  while (is(source, "closed") && atomic_load(&finished) < block && seconds_now() < end_s) {
    wait_ms(0.05);
  }
}

static void pass_on(int from, unsigned *random) {
  if (from + 1 == stage_count) {
    atomic_fetch_add(&finished, 1);
    return;
  }
  struct stage *next = &stages[from + 1];
  bool is_first = !is(next, "skew") || rand_r(random) % 100 < next->ms[1];
  move(&next->queues[is_first ? 0 : 1 + rand_r(random) % (next->threads - 1)], +1);
}

static void *run(void *argument) {
  const struct worker *worker = argument;
  struct stage *stage = worker->stage;
  unsigned random = 1 + (unsigned)worker->number;
  while (stage->number > 0 || seconds_now() < end_s) {
    if (stage->number == 0) {
      begin_block(stage);
    } else {
      move(&stage->queues[is(stage, "skew") ? worker->number : 0], -1);
    }
    double from = seconds_now();
    if (stage->is_measured) {
      measured_work(stage);
    } else {
      work(stage);
    }
    atomic_fetch_add(&stage->busy_ns, (uint64_t)((seconds_now() - from) * 1e9));
    pass_on(stage->number, &random);
  }
  return NULL;
}

static void usage(void) {
  fputs(HELP, stderr);
  exit(2);
}

static void parse(struct stage *stage, char *text, int capacity) {
  char *rest = NULL;
  stage->is_measured = text[0] != '-';
  stage->threads = atoi(strtok_r(text + !stage->is_measured, ":", &rest));
  stage->model = strtok_r(NULL, ":", &rest);
  for (int i = 0; i < PARAMETERS; i++) {
    char *number = strtok_r(NULL, ":", &rest);
    stage->ms[i] = number == NULL ? 0 : atof(number);
  }
  if (stage->threads < 1 || stage->threads > MAX_THREADS || stage->model == NULL) {
    usage();
  }
  pthread_mutex_init(&stage->lock, NULL);
  for (int i = 0; i < MAX_THREADS; i++) {
    pthread_mutex_init(&stage->queues[i].lock, NULL);
    pthread_cond_init(&stage->queues[i].changed, NULL);
    stage->queues[i].capacity = capacity;
  }
}

int main(int argc, char **argv) {
  if (argc < 5 || argc - 4 > MAX_STAGES) {
    usage();
  }
  has_calipers = strcmp(argv[1], "calipers") == 0;
  double seconds = atof(argv[2]);
  for (stage_count = 0; stage_count < argc - 4; stage_count++) {
    stages[stage_count].number = stage_count;
    parse(&stages[stage_count], argv[4 + stage_count], atoi(argv[3]));
  }
  begun_s = seconds_now();
  end_s = begun_s + seconds;
  static struct worker workers[MAX_STAGES * MAX_THREADS];
  int count = 0;
  for (int i = 0; i < stage_count; i++) {
    stages[i].stalled_s = begun_s;
    for (int k = 0; k < stages[i].threads; k++) {
      workers[count] = (struct worker){.stage = &stages[i], .number = k};
      if (pthread_create(&workers[count].thread, NULL, run, &workers[count]) != 0) {
        perror("pipeline: cannot start a thread");
        return 1;
      }
      count++;
    }
  }
  wait_ms(seconds *
          1e3); /* what is in the queues then is not worked off: the last answer is about the pipeline as it ran */
  ll_flush(10000);
  printf("blocks/s: %.1f", (double)atomic_load(&finished) / seconds);
  for (int i = 0; i < stage_count; i++) {
    printf("  %c: %.2f of %d threads", 'a' + i, (double)atomic_load(&stages[i].busy_ns) * 1e-9 / seconds,
           stages[i].threads);
  }
  puts("");
  return 0;
}
