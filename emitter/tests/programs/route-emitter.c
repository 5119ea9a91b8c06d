/* Like crash-emitter, on three routes: each thread numbers its events by route, and records how many emits returned.
 *
 *   route-emitter NOTES THREADS PAUSE_US [LIMIT]
 *
 * Uses the routes 0 (default), 1 and 2 in turn; LIMIT is per thread and route.
 */
#include "ring/producer.h"

#include <fcntl.h>
#include <lifeline/lifeline.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

LL_EVENT(serial, "test.serial", LL_INFO, (u64, serial, ""), (u32, thread, ""));

enum { THREADS_MAX = 8, ROUTES = 3, RECORD = 24 };

static uint64_t *returned; /* by thread and route */
static useconds_t pause_us;
static uint64_t limit;

static void emit_on(uint32_t route, uint64_t number, uint32_t thread) {
  if (route == 0) {
    ll_emit(serial, number, thread);
    return;
  }
  ll_reservation taken = ll_reserve_on_route(route, ll_type_serial.state, RECORD);
  if (taken.producer == NULL) return;
  memset(taken.at + RECORD - 8, 0, 8);
  memcpy(taken.at + 8, &number, sizeof number);
  memcpy(taken.at + 16, &thread, sizeof thread);
  ll_publish(taken);
}

static void *emit(void *which) {
  uint32_t thread = (uint32_t)(size_t)which;
  for (uint64_t i = 1; i <= limit; i++) {
    for (uint32_t route = 0; route < ROUTES; route++) {
      emit_on(route, i, thread);
      __atomic_store_n(&returned[thread * ROUTES + route], i, __ATOMIC_RELEASE);
    }
    if (i % 300 == 0 && pause_us > 0) usleep(pause_us);
  }
  return NULL;
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  int threads = atoi(argv[2]);
  size_t bytes = THREADS_MAX * ROUTES * sizeof *returned;
  int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
  if (fd < 0 || threads < 1 || threads > THREADS_MAX || ftruncate(fd, (off_t)bytes) != 0) return 2;
  returned = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (returned == MAP_FAILED || ll_init(NULL) != 0) return 2;
  pause_us = (useconds_t)atoi(argv[3]);
  limit = argc > 4 ? strtoull(argv[4], NULL, 10) : UINT64_MAX;
  pthread_t started[THREADS_MAX];
  for (int i = 0; i < threads; i++)
    if (pthread_create(&started[i], NULL, emit, (void *)(size_t)i) != 0) return 2;
  for (int i = 0; i < threads; i++)
    pthread_join(started[i], NULL);
  return 0;
}
