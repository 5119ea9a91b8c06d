/* Makes each wrapped call once, on files, sockets, pipes; and prints what the kernel says that it moved. For the test.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static char bytes[100];

static void expect(long got, long wanted, const char *what) {
  if (got == wanted) return;
  fprintf(stderr, "calls: %s returned %ld, not %ld: %s\n", what, got, wanted, strerror(errno));
  exit(1);
}
#define EXPECT(wanted, call) expect((long)(call), wanted, #call)

/* 14 writes and 14 reads of 100 bytes, and one copy. */
static void files(const char *folder) {
  char path[4096], other[4096];
  struct iovec vector = {bytes, sizeof bytes};
  snprintf(path, sizeof path, "%s/data", folder);
  snprintf(other, sizeof other, "%s/copy", folder);
  int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600), copy = open64(other, O_RDWR | O_CREAT | O_TRUNC, 0600);
  EXPECT(100, write(fd, bytes, sizeof bytes));
  EXPECT(100, pwrite(fd, bytes, sizeof bytes, 0));
  EXPECT(100, pwrite64(fd, bytes, sizeof bytes, 0));
  EXPECT(100, writev(fd, &vector, 1));
  EXPECT(100, pwritev(fd, &vector, 1, 0));
  EXPECT(100, pwritev64(fd, &vector, 1, 0));
  EXPECT(100, pwritev2(fd, &vector, 1, 0, 0));
  EXPECT(100, pwritev64v2(fd, &vector, 1, 0, 0));
  EXPECT(0, lseek(fd, 0, SEEK_SET));
  EXPECT(100, read(fd, bytes, sizeof bytes));
  EXPECT(100, pread(fd, bytes, sizeof bytes, 0));
  EXPECT(100, pread64(fd, bytes, sizeof bytes, 0));
  EXPECT(100, readv(fd, &vector, 1));
  EXPECT(100, preadv(fd, &vector, 1, 0));
  EXPECT(100, preadv64(fd, &vector, 1, 0));
  EXPECT(100, preadv2(fd, &vector, 1, 0, 0));
  EXPECT(100, preadv64v2(fd, &vector, 1, 0, 0));
  EXPECT(0, read(fd, bytes, sizeof bytes)); /* the end: not measured */
  EXPECT(0, fsync(fd));
  EXPECT(0, fdatasync(fd));
  EXPECT(0, syncfs(fd));
  EXPECT(0, sync_file_range(fd, 0, 100, SYNC_FILE_RANGE_WRITE));
  off64_t from = 0, to = 0;
  EXPECT(100, copy_file_range(fd, &from, copy, &to, 100, 0));
  EXPECT(-1, pread(copy, bytes, sizeof bytes, -1));
  EXPECT(EINVAL, errno);
  close(fd);
  close(copy);
  EXPECT(-1, read(fd, bytes, sizeof bytes));
  EXPECT(EBADF, errno);
}

/* 5 sends of 100 bytes through the connection, of which one is a sendfile; 5 receives. */
static void sockets(const char *folder) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t address_bytes = sizeof address;
  struct iovec vector = {bytes, sizeof bytes};
  struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
  struct mmsghdr messages[1] = {{.msg_hdr = message}};
  char path[4096];
  int listening = socket(AF_INET, SOCK_STREAM, 0), sending = socket(AF_INET, SOCK_STREAM, 0);
  EXPECT(0, bind(listening, (struct sockaddr *)&address, sizeof address));
  EXPECT(0, getsockname(listening, (struct sockaddr *)&address, &address_bytes));
  EXPECT(0, listen(listening, 1));
  EXPECT(0, connect(sending, (struct sockaddr *)&address, sizeof address));
  int receiving = accept4(listening, NULL, NULL, 0);
  EXPECT(100, send(sending, bytes, sizeof bytes, 0));
  EXPECT(100, recv(receiving, bytes, sizeof bytes, 0));
  EXPECT(100, sendto(sending, bytes, sizeof bytes, 0, NULL, 0));
  EXPECT(100, recv(receiving, bytes, sizeof bytes, MSG_PEEK));
  EXPECT(1, recvmmsg(receiving, messages, 1, MSG_PEEK, NULL));
  EXPECT(-1, recvmsg(receiving, &message, MSG_ERRQUEUE));
  EXPECT(100, recvfrom(receiving, bytes, sizeof bytes, 0, NULL, NULL));
  EXPECT(100, sendmsg(sending, &message, 0));
  EXPECT(100, recvmsg(receiving, &message, 0));
  EXPECT(1, sendmmsg(sending, messages, 1, 0));
  EXPECT(1, recvmmsg(receiving, messages, 1, 0, NULL));
  snprintf(path, sizeof path, "%s/data", folder);
  int file = open(path, O_RDONLY);
  EXPECT(100, sendfile(sending, file, NULL, 100));
  EXPECT(100, read(receiving, bytes, sizeof bytes));
  EXPECT(-1, recv(receiving, bytes, sizeof bytes, MSG_DONTWAIT));
  EXPECT(EAGAIN, errno);
  printf("port %d\n", ntohs(address.sin_port));
  close(file), close(listening), close(sending), close(receiving);
}

/* 3 writes and 3 reads of 100 bytes, and 8 waits. */
static void pipes(void) {
  int ends[2], more[2];
  struct timespec soon = {0, 1000000};
  EXPECT(0, pipe(ends));
  EXPECT(0, pipe2(more, 0));
  EXPECT(100, write(ends[1], bytes, sizeof bytes));
  EXPECT(100, splice(ends[0], NULL, more[1], NULL, 100, 0));
  EXPECT(100, read(more[0], bytes, sizeof bytes));
  struct iovec vector = {bytes, sizeof bytes};
  EXPECT(100, vmsplice(ends[1], &vector, 1, 0));
  EXPECT(100, read(ends[0], bytes, sizeof bytes));
  struct pollfd polled = {.fd = ends[0], .events = POLLIN};
  EXPECT(0, poll(&polled, 1, 1));
  EXPECT(0, poll(&polled, 1, 0)); /* no wait */
  EXPECT(0, ppoll(&polled, 1, &soon, NULL));
  struct timeval moment = {0, 1000};
  fd_set selected;
  FD_ZERO(&selected);
  FD_SET(ends[0], &selected);
  EXPECT(0, select(ends[0] + 1, &selected, NULL, NULL, &moment));
  FD_SET(ends[0], &selected);
  EXPECT(0, pselect(ends[0] + 1, &selected, NULL, NULL, &soon, NULL));
  EXPECT(0, pselect(0, NULL, NULL, NULL, &soon, NULL)); /* a sleep */
  int epoll = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN};
  EXPECT(0, epoll_wait(epoll, &event, 1, 1));
  EXPECT(0, epoll_pwait(epoll, &event, 1, 1, NULL));
  int pwait2 = epoll_pwait2(epoll, &event, 1, &soon, NULL);
  if (pwait2 != 0) EXPECT(ENOSYS, errno);
}

/* 1,000 lines of 11 bytes; through the buffer, with a flush for each 100. */
static void streams(const char *folder) {
  char path[4096], line[64];
  snprintf(path, sizeof path, "%s/lines", folder);
  FILE *file = fopen(path, "w");
  for (int i = 0; i < 1000; i++) {
    if (i % 4 == 0) fprintf(file, "%010d\n", i);
    if (i % 4 == 1) fputs("0123456789\n", file);
    if (i % 4 == 2) fwrite("0123456789\n", 1, 11, file);
    if (i % 4 == 3)
      for (const char *c = "0123456789\n"; *c != '\0'; c++)
        putc(*c, file);
    if (i % 100 == 99) fflush(file);
  }
  EXPECT(0, fclose(file));
  file = fopen(path, "r");
  int lines = 0;
  while (fgets(line, sizeof line, file) != NULL)
    lines++;
  EXPECT(1000, lines);
  EXPECT(0, fclose(file));
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  files(argv[1]);
  sockets(argv[1]);
  pipes();
  streams(argv[1]);
  return 0;
}
