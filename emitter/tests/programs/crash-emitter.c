/* Emits serial numbers from several threads until it is killed, and records in a shared file how many emits returned.
 *
 *   crash-emitter NOTES THREADS PAUSE_US [LIMIT]
 *
 * Pauses after each thousand events. LIMIT is per thread; without it only a signal ends the program.
 */
#include <lifeline/lifeline.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

LL_EVENT(serial, "test.serial", LL_INFO, (u64, serial, ""), (u32, thread, ""), (string, text, ""));

enum { THREADS_MAX = 8 };

static uint64_t *returned; /* by thread */
static useconds_t pause_us;
static uint64_t limit;

static void *emit(void *number) {
  uint32_t thread = (uint32_t)(size_t)number;
  for (uint64_t i = 1; i <= limit; i++) {
    ll_emit(serial, i, thread, i % 3 == 0 ? "some text" : "");
    __atomic_store_n(&returned[thread], i, __ATOMIC_RELEASE);
    if (i % 1000 == 0 && pause_us > 0) usleep(pause_us);
  }
  return NULL;
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  int threads = atoi(argv[2]);
  int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
  if (fd < 0 || threads < 1 || threads > THREADS_MAX || ftruncate(fd, THREADS_MAX * sizeof *returned) != 0) return 2;
  returned = mmap(NULL, THREADS_MAX * sizeof *returned, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (returned == MAP_FAILED) return 2;
  pause_us = (useconds_t)atoi(argv[3]);
  limit = argc > 4 ? strtoull(argv[4], NULL, 10) : UINT64_MAX;
  pthread_t started[THREADS_MAX];
  for (int i = 0; i < threads; i++)
    if (pthread_create(&started[i], NULL, emit, (void *)(size_t)i) != 0) return 2;
  for (int i = 0; i < threads; i++)
    pthread_join(started[i], NULL);
  return 0;
}
