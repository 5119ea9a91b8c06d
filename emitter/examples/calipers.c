/* Calipers: summaries of the duration, size and rate of reads per interval, and a report of a read that hangs, while it
 * hangs. Reads from a pipe whose writer pauses once.
 *
 *   LIFELINE_RESOLUTION="example.read summary interval=1s" LIFELINE_URL=file:///tmp/calipers.llb ./lifeline-calipers &&
 *   lifeline-cat --format bp /tmp/calipers.llb
 */
#include <lifeline/caliper.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

LL_CALIPER(reading, "example.read", LL_INFO, "B");

enum { BLOCKS = 2000, BLOCK_BYTES = 4096, HANG_US = 2500000 };

static int ends[2];

static void *write_blocks(void *unused) {
  static const char block[BLOCK_BYTES];
  (void)unused;
  for (int i = 0; i < BLOCKS; i++) {
    if (i == BLOCKS / 2) usleep(HANG_US); /* simulates a dead disk or a stuck peer */
    if (write(ends[1], block, sizeof block) != sizeof block) break;
  }
  close(ends[1]);
  return NULL;
}

int main(void) {
  pthread_t writer;
  char block[BLOCK_BYTES];
  double total = 0;
  if (pipe(ends) != 0 || pthread_create(&writer, NULL, write_blocks, NULL) != 0) return 1;
  for (;;) {
    ll_operation operation = ll_begin(reading);
    ssize_t got = read(ends[0], block, sizeof block);
    ll_end(reading, operation, got > 0 ? (double)got : 0);
    if (got <= 0) break;
    total += (double)got;
  }
  pthread_join(writer, NULL);
  printf("read %.0f bytes\n", total);
  return 0;
}
