/* bench-preload-read [FILE]: the cost of one read of /dev/zero, and of one open, read and close of a file, in
 * nanoseconds. Run it with and without the preload: the difference is the preload's. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { REPETITIONS = 1001 };

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

/* Prints the least and the median: on a busy machine the least of many short repetitions is the cost without
 * interruptions. */
static void measure(const char *name, void (*operation)(void), int calls, const char *end) {
  static double each[REPETITIONS];
  for (int i = 0; i < REPETITIONS; i++) {
    double began = now_ns();
    for (int call = 0; call < calls; call++)
      operation();
    each[i] = (now_ns() - began) / calls;
  }
  qsort(each, REPETITIONS, sizeof *each, ascending);
  printf("\"%s_ns\": {\"least\": %.1f, \"median\": %.1f}%s", name, each[0], each[REPETITIONS / 2], end);
}

int main(int argc, char **argv) {
  if (argc > 1) path = argv[1];
  zero = open("/dev/zero", O_RDONLY);
  printf("{");
  measure("read_1", read_zero, 1000, ", ");
  block = sizeof bytes;
  measure("read_65536", read_zero, 200, ", ");
  measure("open_read_close", read_file, 200, "}\n");
  return 0;
}
