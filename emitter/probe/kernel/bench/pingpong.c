/* Two threads that wake each other in turn, by a futex or by pipes, on one CPU: the most context switches that there
 * can be, or as many per second as are asked for. Prints the switches that it made. */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint32_t turn;
static int pipes[2][2];
static int by_futex;

static void pass(uint32_t self) {
  if (by_futex) {
    __atomic_store_n(&turn, !self, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  } else if (write(pipes[self][1], "", 1) != 1) {
    exit(1);
  }
}

static void await(uint32_t self) {
  char byte;
  if (by_futex) {
    while (__atomic_load_n(&turn, __ATOMIC_SEQ_CST) != self)
      syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, !self, NULL, NULL, 0);
  } else if (read(pipes[!self][0], &byte, 1) != 1) {
    exit(1);
  }
}

static void *answer(void *unused) {
  for (;;) {
    await(1);
    pass(1);
  }
  return unused;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Usage: pingpong futex|pipe SECONDS [SWITCHES_PER_SECOND [CPU]] */
int main(int argc, char **argv) {
  if (argc < 3) return 2;
  by_futex = strcmp(argv[1], "futex") == 0;
  double length = atof(argv[2]), rate = argc > 3 ? atof(argv[3]) : 0, began = seconds(), now = began;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(argc > 4 ? (unsigned)atoi(argv[4]) : 0, &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0 || pipe(pipes[0]) != 0 || pipe(pipes[1]) != 0) return 1;
  pthread_t thread;
  if (pthread_create(&thread, NULL, answer, NULL) != 0) return 1;
  uint64_t rounds = 0;
  while (now - began < length) {
    for (int i = 0; i < 200; i++, rounds++) {
      pass(0);
      await(0);
    }
    now = seconds();
    double ahead = rate > 0 ? (double)rounds * 2 / rate - (now - began) : 0;
    if (ahead > 0) usleep((useconds_t)(ahead * 1e6));
  }
  struct timespec cpu;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
  printf("%.0f %.6f %.6f\n", (double)rounds * 2, now - began, (double)cpu.tv_sec + (double)cpu.tv_nsec * 1e-9);
  return 0;
}
