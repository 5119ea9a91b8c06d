/* Calls whose arguments lie where nothing can be read or written, `preload-pointers FOLDER`: prints what each returned,
 * or the signal that ended it. With the preload it must be the same as without. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* No compiler knows where they are. The last one has 4 bytes. */
static void *volatile null, *volatile nowhere, *volatile at_end;
static char bytes[16];
static volatile int less = -1;

/* In a child of its own, which makes the calls that end a program end no more than that. */
#define TELL(call)                                                                                                     \
  do {                                                                                                                 \
    pid_t child = fork();                                                                                              \
    if (child == 0) {                                                                                                  \
      errno = 0;                                                                                                       \
      long result = (long)(call);                                                                                      \
      printf("%-60s %ld %d\n", #call, result, errno);                                                                  \
      fflush(stdout);                                                                                                  \
      _exit(0);                                                                                                        \
    }                                                                                                                  \
    int status = 0;                                                                                                    \
    waitpid(child, &status, 0);                                                                                        \
    if (status != 0) printf("%-60s signal %d\n", #call, WTERMSIG(status));                                             \
    fflush(stdout);                                                                                                    \
  } while (0)

static void messages(int file, int datagram, const int pair[2]) {
  struct iovec part = {nowhere, 9};
  struct msghdr none = {.msg_iov = nowhere, .msg_iovlen = 1}, bad = {.msg_iov = &part, .msg_iovlen = 1};
  struct msghdr many = {.msg_iov = nowhere, .msg_iovlen = SIZE_MAX / 16};
  struct mmsghdr several[2] = {{.msg_hdr = none}, {.msg_hdr = bad}};
  const int at_once = MSG_DONTWAIT | MSG_TRUNC;
  if (send(pair[0], "text", 4, 0) != 4) abort();
  TELL(recv(pair[1], nowhere, 1, at_once | MSG_PEEK));
  TELL(recvmsg(pair[1], null, at_once));
  TELL(recvmsg(pair[1], nowhere, at_once));
  TELL(recvmsg(pair[1], nowhere, MSG_PEEK));
  TELL(recvmsg(file, nowhere, MSG_TRUNC));
  TELL(recvmsg(-1, nowhere, MSG_TRUNC));
  TELL(recvmsg(pair[1], &none, at_once));
  TELL(recvmsg(pair[1], &many, at_once));
  TELL(recvmsg(pair[1], &bad, at_once));
  TELL(recvmmsg(pair[1], nowhere, 2, at_once, NULL));
  TELL(recvmmsg(pair[1], several, 2, at_once, NULL));
  TELL(recvmmsg(pair[1], several, 2, at_once, nowhere));
  TELL(recvfrom(file, nowhere, 2, at_once, nowhere, nowhere));
  TELL(sendmsg(datagram, nowhere, 0));
  TELL(sendmsg(datagram, &none, 0));
  TELL(sendmsg(datagram, &many, 0));
  TELL(sendmsg(file, nowhere, 0));
  TELL(sendmmsg(datagram, nowhere, 2, 0));
  TELL(sendmmsg(pair[0], several, 2, 0));
  TELL(sendto(datagram, bytes, 1, 0, nowhere, 16));
}

static void connections(int file, int datagram) {
  *(sa_family_t *)at_end = AF_INET;
  TELL(connect(datagram, null, 16));
  TELL(connect(datagram, nowhere, 16));
  TELL(connect(datagram, nowhere, 0));
  TELL(connect(datagram, nowhere, UINT_MAX));
  TELL(connect(datagram, at_end, 1 << 20));
  TELL(connect(datagram, at_end, 16));
  TELL(connect(datagram, at_end, 4));
  TELL(connect(file, nowhere, 16));
  TELL(connect(-1, nowhere, sizeof(struct sockaddr_un)));
  TELL(accept(file, nowhere, nowhere));
  TELL(accept4(datagram, nowhere, nowhere, 0));
  TELL(socketpair(AF_UNIX, SOCK_STREAM, 0, nowhere));
}

static void files(int file, int datagram) {
  TELL(read(file, nowhere, 1));
  TELL(pread64(file, nowhere, 1, 0));
  TELL(write(file, nowhere, 1));
  TELL(readv(file, nowhere, 2));
  TELL(readv(file, nowhere, less));
  TELL(preadv2(file, nowhere, 2, 0, 0));
  TELL(writev(file, nowhere, 2));
  TELL(writev(file, nowhere, 0));
  TELL(writev(file, nowhere, less));
  TELL(pwritev(-1, nowhere, 1, 0));
  TELL(pwritev2(file, nowhere, 1, 0, 0));
  TELL(vmsplice(file, nowhere, 1, 0));
  TELL(sendfile(datagram, file, nowhere, 1));
  TELL(splice(file, nowhere, datagram, nowhere, 1, 0));
  TELL(copy_file_range(file, nowhere, file, nowhere, 1, 0));
  TELL(open(nowhere, O_RDONLY));
  TELL(openat(AT_FDCWD, nowhere, O_RDONLY));
  TELL(creat(nowhere, 0600));
  TELL(pipe(nowhere));
  TELL(pipe2(nowhere, O_CLOEXEC));
}

static void waits(int epoll) {
  struct timeval soon = {0, 1000};
  TELL(poll(nowhere, 1, 1));
  TELL(ppoll(nowhere, 1, NULL, nowhere));
  TELL(ppoll(nowhere, 1, nowhere, NULL));
  TELL(select(3, nowhere, NULL, NULL, &soon));
  TELL(select(3, NULL, NULL, NULL, nowhere));
  TELL(pselect(3, NULL, NULL, NULL, nowhere, nowhere));
  TELL(epoll_wait(epoll, nowhere, 1, 1));
  TELL(epoll_pwait(epoll, nowhere, 1, 1, nowhere));
  TELL(epoll_pwait2(epoll, nowhere, 1, nowhere, NULL));
  TELL(epoll_pwait2(-1, nowhere, 1, nowhere, nowhere));
}

static void limits(void) {
  const struct rlimit more = {1 << 30, RLIM_INFINITY};
  struct rlimit now;
  TELL(setrlimit(RLIMIT_AS, nowhere));
  TELL(setrlimit(RLIMIT_DATA, nowhere));
  TELL(setrlimit(RLIMIT_DATA, null));
  TELL(setrlimit64(RLIMIT_AS, at_end));
  TELL(getrlimit(RLIMIT_AS, nowhere));
  TELL(prlimit(0, RLIMIT_AS, nowhere, NULL));
  TELL(prlimit(0, RLIMIT_AS, NULL, nowhere));
  TELL(prlimit(0, RLIMIT_DATA, nowhere, nowhere));
  TELL(prlimit64(-1, RLIMIT_AS, nowhere, nowhere));
  TELL(prlimit(0, RLIMIT_AS, &more, nowhere));
  TELL(prlimit(0, RLIMIT_AS, &more, nowhere) + getrlimit(RLIMIT_AS, &now) + (int)(now.rlim_cur == more.rlim_cur) * 10);
  TELL(prlimit(0, RLIMIT_AS, &more, &now) + getrlimit(RLIMIT_AS, &now) + (int)(now.rlim_cur == more.rlim_cur) * 10);
}

/* The second one is a program that is executed without the preload. */
static void programs(const char *folder) {
  char other[PATH_MAX], *const words[] = {bytes, NULL}, *const bad[] = {nowhere, NULL};
  const unsigned char header[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1}; /* has no interpreter */
  pid_t started;
  snprintf(other, sizeof other, "%s/other", folder);
  int fd = open(other, O_WRONLY | O_CREAT, 0700);
  if (write(fd, header, sizeof header) != sizeof header || close(fd) != 0) abort();
  TELL(execve(nowhere, words, environ));
  TELL(execv(nowhere, words));
  TELL(execve("/bin/true", nowhere, environ));
  TELL(execve("/bin/true", bad, environ));
  TELL(execve("/bin/true", words, nowhere));
  TELL(execve("/bin/true", words, bad));
  TELL(execve(other, words, nowhere));
  TELL(execve(other, words, bad));
  TELL(execve(other, nowhere, null));
  TELL(execvpe(other, words, at_end));
  TELL(fexecve(-1, nowhere, nowhere));
  TELL(execvp(nowhere, words));
  TELL(posix_spawn(&started, nowhere, NULL, NULL, words, environ));
  TELL(posix_spawn(&started, other, NULL, NULL, words, nowhere));
  TELL(posix_spawn(&started, other, NULL, NULL, words, bad));
  TELL(posix_spawnp(&started, nowhere, NULL, NULL, words, environ));
  TELL(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, nowhere, 0, 0));
}

int main(int argc, char **argv) {
  int pair[2], file = open("/etc/hostname", O_RDONLY), datagram = socket(AF_INET, SOCK_DGRAM, 0);
  char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (argc != 2 || page == MAP_FAILED || mprotect(page + 4096, 4096, PROT_NONE) != 0) return 2;
  nowhere = page + 4096, at_end = page + 4096 - 4;
  memset(page, 'x', 4096);
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) != 0 || read(file, bytes, 1) != 1) return 2; /* measured */
  messages(file, datagram, pair);
  connections(file, datagram);
  files(file, datagram);
  waits(epoll_create1(0));
  limits();
  programs(argv[1]);
  return 0;
}
