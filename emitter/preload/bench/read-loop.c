/* bench-preload-read: the cost of one read of /dev/zero, and of one open, read and close of a file, in nanoseconds. Run
 * it with and without the preload: the difference is the preload's. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { REPETITIONS = 31 };

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int ascending(const void *a, const void *b) {
  double one = *(const double *)a, other = *(const double *)b;
  return (one > other) - (one < other);
}

static char bytes[65536];
static size_t block = 1;
static int zero;
static const char *path = "/etc/hostname";

static void read_zero(void) {
  if (read(zero, bytes, block) != (ssize_t)block) exit(1);
}

static void read_file(void) {
  int fd = open(path, O_RDONLY);
  if (fd < 0 || read(fd, bytes, sizeof bytes) < 0 || close(fd) != 0) exit(1);
}

static double median_of(void (*operation)(void), int calls) {
  double each[REPETITIONS];
  for (int i = 0; i < calls; i++)
    operation();
  for (int i = 0; i < REPETITIONS; i++) {
    double began = now_ns();
    for (int call = 0; call < calls; call++)
      operation();
    each[i] = (now_ns() - began) / calls;
  }
  qsort(each, REPETITIONS, sizeof *each, ascending);
  return each[REPETITIONS / 2];
}

int main(int argc, char **argv) {
  zero = open("/dev/zero", O_RDONLY);
  double one = median_of(read_zero, 50000);
  block = sizeof bytes;
  double large = median_of(read_zero, 2000);
  if (argc > 1) path = argv[1];
  double file = median_of(read_file, 5000);
  printf("{\"read_1_ns\": %.1f, \"read_65536_ns\": %.1f, \"open_read_close_ns\": %.1f}\n", one, large, file);
  return 0;
}
