/* A program without a dynamic linker, whose system calls no preloaded library can see. Waits for a line, makes a known
 * number of calls, says so, and waits again. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CALLS = 1000, BYTES = 4096, REFUSED = 10 };

static int wait_for_line(void) {
  char line[16];
  return fgets(line, sizeof line, stdin) != NULL;
}

int main(int argc, char **argv) {
  static char block[BYTES];
  int pair[2], file = argc > 1 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
  if (file < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) != 0 || !wait_for_line()) return 1;
  for (int i = 0; i < CALLS; i++)
    if (pwrite(file, block, BYTES, (off_t)i * BYTES) != BYTES) return 1;
  for (int i = 0; i < CALLS; i++)
    if (pread(file, block, BYTES, (off_t)i * BYTES) != BYTES) return 1;
  for (int i = 0; i < REFUSED; i++)
    if (recv(pair[0], block, BYTES, 0) >= 0) return 1;
  if (fsync(file) != 0 || send(pair[1], block, 100, 0) != 100 || recv(pair[0], block, BYTES, 0) != 100) return 1;
  puts("done");
  fflush(stdout);
  wait_for_line();
  return 0;
}
