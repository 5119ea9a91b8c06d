/* What programs do that a preload must stand: `preload-habits HABIT FOLDER`. Each habit checks itself what it can, and
 * ends with 0 if nothing was different from a run without the preload. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static char bytes[100];
static const char *folder;
static int ends[2];

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (condition) break;                                                                                              \
    fprintf(stderr, "habits: line %d: %s: %s\n", __LINE__, #condition, strerror(errno));                               \
    _exit(1);                                                                                                          \
  } while (0)

static int file(const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  CHECK(fd >= 0);
  return fd;
}

static void put(int fd, int times) {
  for (int i = 0; i < times; i++)
    CHECK(write(fd, bytes, sizeof bytes) == sizeof bytes);
}

static int status_of(pid_t child) {
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child);
  return status;
}

/* Children that work, children that exec, and one that works after its parent has ended. */
static void habit_fork(void) {
  int fd = file("parent");
  put(fd, 10);
  for (int i = 0; i < 3; i++) {
    pid_t child = fork();
    if (child == 0) {
      int own = file("child");
      put(own, 100);
      exit(0);
    }
    CHECK(status_of(child) == 0);
    child = fork();
    if (child == 0) {
      execl("/bin/true", "true", NULL);
      _exit(1);
    }
    CHECK(status_of(child) == 0);
  }
  pid_t child = fork();
  if (child == 0) {
    put(file("short"), 3); /* io.unseen */
    _exit(0);
  }
  CHECK(status_of(child) == 0);
  put(fd, 10);
  if (fork() == 0) {
    put(file("grandchild"), 50);
    _exit(0); /* without handlers: the preload delivers all the same */
  }
  wait(NULL);
}

/* The child of a vfork uses its parent's memory, but has descriptors of its own. */
static void habit_vfork(void) {
  int one = file("one"), other = file("other");
  put(one, 1);
  put(other, 1);
  for (int i = 0; i < 20; i++) {
    pid_t child = vfork();
    if (child == 0) {
      dup2(other, one);
      if (write(one, bytes, 10) != 10) _exit(1);
      close(other);
      execl("/bin/true", "true", NULL);
      _exit(1);
    }
    CHECK(status_of(child) == 0);
  }
  put(one, 1);
  put(other, 1);
}

static void *read_forever(void *unused) {
  (void)unused;
  char byte;
  while (read(ends[0], &byte, 1) == 1) {
  }
  return NULL;
}

static void habit_cancel(void) {
  void *result;
  CHECK(pipe(ends) == 0);
  for (int i = 0; i < 100; i++) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, read_forever, NULL) == 0);
    if (i % 2 == 0) CHECK(write(ends[1], "x", 1) == 1);
    if (i % 3 == 0) sched_yield();
    CHECK(pthread_cancel(thread) == 0);
    CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
  }
  CHECK(pipe(ends) == 0); /* an empty one */
  FILE *stream = fdopen(ends[0], "r");
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, (void *(*)(void *))(void *)getc, stream) == 0);
  usleep(50000);
  CHECK(pthread_cancel(thread) == 0);
  CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
  CHECK(ftrylockfile(stream) == 0); /* nobody holds its lock */
}

/* Without libc's other functions: after fork, and cancelled anywhere. */
static void *work_until_cancelled(void *unused) {
  (void)unused;
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
  for (;;)
    if (write(ends[1], bytes, 1) == 1 && read(ends[0], bytes, 1) != 1) return NULL;
}

static volatile sig_atomic_t handled;
static int to_handler;

static void on_alarm(int signal) {
  (void)signal;
  if (write(to_handler, bytes, 10) == 10) handled++;
}

/* A handler that writes, on a small stack of its own, while the program is in calls of the preload and in malloc. */
static void habit_signal(void) {
  stack_t stack = {.ss_size = (size_t)sysconf(_SC_MINSIGSTKSZ) + 4096};
  stack.ss_sp = malloc(stack.ss_size);
  struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_ONSTACK | SA_RESTART};
  struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
  int fd = file("main");
  to_handler = file("handler");
  CHECK(sigaltstack(&stack, NULL) == 0 && sigaction(SIGALRM, &action, NULL) == 0);
  CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
  for (int i = 0; i < 50000 || handled < 100; i++) {
    put(fd, 1);
    free(malloc((size_t)i % 5000));
    errno = 77;
    CHECK(lseek(fd, 0, SEEK_SET) == 0 && errno == 77);
  }
  CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
  printf("handled %d\n", (int)handled);
}

static void on_alarm_open(int signal) {
  (void)signal;
  int error = errno, fd = open("/dev/null", O_WRONLY);
  CHECK(fd >= 0 && fd < 100 && write(fd, bytes, 1) == 1 && close(fd) == 0);
  handled++;
  errno = error;
}

/* A handler that opens and closes files while the program starts others: they are the program's. */
static void habit_spawn(void) {
  char *const words[] = {(char *)"true", NULL};
  struct sigaction action = {.sa_handler = on_alarm_open, .sa_flags = SA_RESTART};
  struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
  pid_t child;
  put(file("data"), 1);
  CHECK(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &often, NULL) == 0);
  for (int i = 0; i < 200 || handled < 100; i++) {
    CHECK(posix_spawn(&child, "/bin/true", NULL, NULL, words, environ) == 0);
    CHECK(status_of(child) == 0);
  }
  CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
}

static void on_user(int signal) {
  struct stat tasks;
  (void)signal;
  put(to_handler, 20);
  CHECK(stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == 2 + 1);
}

/* The first writes are those of a handler, where no thread may be started. */
static void habit_handler(void) {
  to_handler = file("handler");
  CHECK(signal(SIGUSR1, on_user) != SIG_ERR);
  CHECK(raise(SIGUSR1) == 0);
  if (fork() == 0) {
    CHECK(raise(SIGUSR1) == 0);
    put(file("child"), 20);
    exit(0);
  }
  int status;
  CHECK(wait(&status) > 0 && status == 0);
  put(file("main"), 20);
}

/* Its signal is blocked except while it waits. */
static void habit_masked(void) {
  sigset_t blocked, before;
  struct timespec soon = {0, 1000000};
  fd_set reads;
  int fd = file("data");
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  CHECK(signal(SIGTERM, on_user) != SIG_ERR && sigprocmask(SIG_BLOCK, &blocked, &before) == 0 && pipe(ends) == 0);
  put(fd, 20);
  FD_ZERO(&reads);
  FD_SET(ends[0], &reads);
  CHECK(pselect(ends[0] + 1, &reads, NULL, NULL, &soon, &before) == 0);
  put(fd, 30);
}

static pthread_barrier_t all_run;

static void *write_once(void *fd) {
  put((int)(intptr_t)fd, 1);
  pthread_barrier_wait(&all_run);
  put((int)(intptr_t)fd, 1);
  return NULL;
}

/* As many threads at once as the machine allows. */
static void habit_threads(int wanted) {
  pthread_attr_t small;
  pthread_t *threads = calloc((size_t)wanted, sizeof *threads);
  int fd = file("all"), count = 0;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 65536);
  pthread_barrier_init(&all_run, NULL, (unsigned)wanted + 1);
  while (count < wanted && pthread_create(&threads[count], &small, write_once, (void *)(intptr_t)fd) == 0)
    count++;
  printf("threads %d\n", count);
  fflush(stdout);
  if (count < wanted) _exit(77);
  pthread_barrier_wait(&all_run);
  for (int i = 0; i < count; i++)
    pthread_join(threads[i], NULL);
}

/* Many descriptors, each used once, then closed and used for something else. */
static void habit_descriptors(int wanted) {
  struct rlimit limit;
  CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  limit.rlim_cur = limit.rlim_max;
  CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  int first = file("first"), second = file("second"), last = -1, count = 0;
  for (; count < wanted; count++) {
    int fd = dup(first);
    if (fd < 0) break;
    put(fd, 1);
    last = fd;
  }
  CHECK(close_range((unsigned)second + 1, (unsigned)last, 0) == 0);
  for (int i = 0; i < count; i++)
    CHECK(dup(second) >= 0);
  for (int fd = second + 1; fd <= last; fd++)
    if (fcntl(fd, F_GETFD) >= 0) put(fd, 1);
  printf("descriptors %d\n", count);
}

/* Closed and opened again without libc: an entry that nobody erased. */
static void habit_behind(void) {
  char path[4096];
  int fd = file("before");
  put(fd, 10);
  snprintf(path, sizeof path, "%s/after", folder);
  CHECK(syscall(SYS_close, fd) == 0);
  CHECK(syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_TRUNC, 0600) == fd);
  put(fd, 5); /* counted for the old name */
  sleep(3);
  put(fd, 7);
}

/* Nothing is open but what the program opened; the lowest free number is the next one. */
static void habit_close(void) {
  int fd = file("data");
  CHECK(fd == 3);
  put(fd, 5);
  usleep(300000); /* the sink is open */
  CHECK(dup(fd) == 4 && close(4) == 0);
  for (int i = 3; i < 1024; i++)
    close(i);
  CHECK(file("again") == 3);
  put(3, 5);
  closefrom(3);
  CHECK(close_range(3, ~0u, 0) == 0);
  for (int i = 3; i < 1000; i++)
    CHECK(i == file("more"));
  for (int i = 3; i < 1000; i++)
    put(i, 1);
}

/* What it executes under its filter, even one that allows all, is started without the preload. */
static void habit_executed(void) {
  struct sock_filter filter[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {1, filter};
  put(file("data"), 20);
  CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
  execlp("sh", "sh", "-c", "echo \"$LD_PRELOAD\"", NULL);
}

static void allow_only_reads_and_writes(void) {
#define ALLOW(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
  struct sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                 ALLOW(SYS_read),
                                 ALLOW(SYS_write),
                                 ALLOW(SYS_close),
                                 ALLOW(SYS_openat),
                                 ALLOW(SYS_exit_group),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

static void habit_seccomp(void) {
  int fd = file("data");
  put(fd, 20);
  allow_only_reads_and_writes();
  put(fd, 10);
  close(fd);
  fd = file("new");
  put(fd, 10);
  _exit(0);
}

/* Exit handlers must not call what the filter forbids, and no other thread is there to do so. */
static void habit_filtered(void) {
  put(file("data"), 20);
  usleep(100000); /* the sink is being opened */
  allow_only_reads_and_writes();
  for (char status[4096] = "";
       strstr(status, "Threads:\t1\n") == NULL;) { /* they end a moment later; the test has a limit */
    int fd = open("/proc/self/status", O_RDONLY);
    ssize_t got = read(fd, status, sizeof status - 1);
    CHECK(got > 0);
    status[got] = '\0';
    close(fd);
  }
}

/* The kernel refuses it to a process with threads. */
static void habit_namespaces(void) {
  int fd = file("data");
  put(fd, 20);
  usleep(100000);
  CHECK(unshare(CLONE_NEWUSER) == 0);
  put(fd, 10);
}

/* A thread of its own is in the way, so the emitter need not end. */
static void habit_shared(void) {
  pthread_t thread;
  int fd = file("data");
  put(fd, 20);
  CHECK(pipe(ends) == 0 && pthread_create(&thread, NULL, read_forever, NULL) == 0);
  CHECK(unshare(CLONE_NEWUSER) == -1);
  CHECK(unshare(CLONE_VM) == -1);
  put(fd, 10);
}

/* A table that it has for itself is not left behind with what was open in it: the pipe ends. */
static void habit_table(void) {
  int pair[2];
  put(file("data"), 10);
  usleep(200000); /* the library's threads run */
  for (int i = 0; i < 20; i++) {
    CHECK(pipe(pair) == 0);
    CHECK((i % 2 == 0 ? unshare(CLONE_FILES) : close_range((unsigned)pair[1], ~0u, CLOSE_RANGE_UNSHARE)) == 0);
    if (i % 2 == 0) close(pair[1]);
    struct pollfd end = {pair[0], POLLIN, 0};
    CHECK(poll(&end, 1, 500) == 1);
    close(pair[0]);
  }
}

static int write_after_close(void *closed) {
  while (__atomic_load_n((uint32_t *)closed, __ATOMIC_ACQUIRE) == 0)
    usleep(1000);
  return write(3, bytes, sizeof bytes) == sizeof bytes ? 0 : 1;
}

/* A table that it shares with its child, which keeps it. */
static void habit_shared_table(void) {
  static char stack[256 << 10] __attribute__((aligned(64)));
  uint32_t *closed = mmap(NULL, sizeof *closed, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int fd = file("data");
  CHECK(closed != MAP_FAILED && fd == 3);
  put(fd, 10);
  usleep(200000);
  pid_t child = clone(write_after_close, stack + sizeof stack, CLONE_FILES | SIGCHLD, closed);
  CHECK(child > 0 && unshare(CLONE_FILES) == 0 && close(fd) == 0);
  __atomic_store_n(closed, 1, __ATOMIC_RELEASE);
  CHECK(status_of(child) == 0);
}

/* A seccomp filter in a child that has hardly begun. */
static void habit_sandbox(void) {
  pid_t child = fork();
  if (child == 0) habit_seccomp();
  CHECK(status_of(child) == 0);
}

/* A server that limits its sessions, as vsftpd does. */
static void habit_limits(void) {
  const rlim_t most = 200 << 20;
  struct rlimit limit = {most, most}, now;
  put(file("parent"), 20);
  usleep(200000); /* the library's threads run */
  pid_t child = fork();
  if (child == 0) {
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    CHECK(getrlimit(RLIMIT_AS, &now) == 0 && now.rlim_cur == most && now.rlim_max == most);
    CHECK(prlimit(0, RLIMIT_AS, NULL, &now) == 0 && now.rlim_cur == most);
    put(file("child"), 50);
    CHECK(mmap(NULL, most / 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
    exit(0);
  }
  CHECK(status_of(child) == 0);
}

/* With most of it used by the program itself. */
static void *work_on_little(void *ran) {
  volatile char own[7000];
  own[0] = 0;
  int fd = (int)syscall(SYS_openat, AT_FDCWD, folder, O_TMPFILE | O_RDWR, 0600);
  CHECK(fd >= 0);
  put(fd, 20);
  CHECK(pread(fd, bytes, sizeof bytes, 0) == sizeof bytes);
  dprintf(fd, "%d\n", 1);
  if (vfork() == 0) {
    execl("/bin/true", "true", NULL);
    _exit(1);
  }
  CHECK(wait(NULL) > 0);
  *(int *)ran = 1 + own[0];
  return NULL;
}

/* The first work of the process is that of a thread with the smallest stack that there is. */
static void habit_little(void) {
  pthread_attr_t attributes;
  pthread_t thread;
  int ran = 0;
  pthread_attr_init(&attributes);
  CHECK(pthread_attr_setstacksize(&attributes, 16384) == 0);
  CHECK(pthread_create(&thread, &attributes, work_on_little, &ran) == 0);
  CHECK(pthread_join(thread, NULL) == 0 && ran == 1);
}

static long locked_bytes(void) {
  static char text[8192];
  FILE *status = fopen("/proc/self/status", "r");
  CHECK(status != NULL);
  size_t got = fread(text, 1, sizeof text - 1, status);
  text[got] = '\0';
  fclose(status);
  const char *line = strstr(text, "VmLck:");
  return line != NULL ? atol(line + 6) * 1024 : 0;
}

/* Tells how much the program has locked in memory, before and after its first work. */
static void habit_locked(void) {
  CHECK(mlockall(MCL_CURRENT | MCL_FUTURE) == 0);
  put(file("data"), 20);
  usleep(200000); /* the library's threads run */
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  printf("locked %ld resident %ld\n", locked_bytes(), used.ru_maxrss * 1024);
}

static void habit_slow(void) {
  int fd = file("slow");
  for (int i = 0; i < 25; i++) {
    put(fd, 1);
    usleep(100000);
  }
}

static void habit_stall(void) {
  CHECK(pipe(ends) == 0);
  printf("stalled\n");
  fflush(stdout);
  read_forever(NULL);
}

static void habit_daemon(void) {
  put(file("before"), 20);
  CHECK(daemon(1, 0) == 0);
  put(file("after"), 20);
  sleep(1);
  put(file("later"), 20);
}

/* An exec replaces the process: what was measured before it is delivered. */
static void habit_exec(void) {
  put(file("before"), 20);
  execl("/bin/dd", "dd", "if=/dev/zero", "of=/dev/null", "bs=10", "count=1", "status=none", NULL);
}

/* A search that finds nothing, and files that cannot be executed. */
static void habit_missing(void) {
  char *const none[] = {NULL};
  put(file("before"), 20);
  CHECK(execvp("no-such-program", none) == -1 && errno == ENOENT);
  CHECK(execlp("/no/such/program", "none", NULL) == -1 && errno == ENOENT);
  CHECK(execv(folder, none) == -1 && errno == EACCES);
  CHECK(fexecve(-1, none, none) == -1);
  put(file("after"), 20);
}

/* Neither is opened: nobody writes into them. */
static void habit_fifo(void) {
  char fifo[4096], script[4096], line[5000], *const words[] = {fifo, NULL};
  pid_t child;
  snprintf(fifo, sizeof fifo, "%s/fifo", folder);
  snprintf(script, sizeof script, "%s/script", folder);
  CHECK(mkfifo(fifo, 0700) == 0);
  int bytes_of_line = snprintf(line, sizeof line, "#!%s\n", fifo);
  int fd = open(script, O_WRONLY | O_CREAT, 0700);
  CHECK(write(fd, line, (size_t)bytes_of_line) == bytes_of_line && close(fd) == 0);
  CHECK(setenv("PATH", folder, 1) == 0);
  CHECK(execv(fifo, words) == -1 && errno == EACCES);
  CHECK(execvp("fifo", words) == -1 && errno == EACCES);
  CHECK(posix_spawn(&child, fifo, NULL, NULL, words, environ) == EACCES);
  CHECK(posix_spawnp(&child, "fifo", NULL, NULL, words, environ) == EACCES);
  CHECK(posix_spawn(&child, script, NULL, NULL, words, environ) == EACCES);
}

static void habit_user(void) {
  if (getuid() != 0) exit(77);
  put(file("before"), 20);
  int fd = file("data");
  CHECK(setgid(65534) == 0 && setuid(65534) == 0);
  put(fd, 20);
}

/* What daemons do that need a right later on. */
static void habit_keep(void) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {{1 << CAP_SETGID, 1 << CAP_SETGID, 0}};
  put(file("data"), 20);
  CHECK(prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) == 0);
  CHECK(setresuid(65534, 65534, 65534) == 0);
  CHECK(syscall(SYS_capset, &header, sets) == 0);
  CHECK(setgroups(0, NULL) == 0 && setresgid(65534, 65534, 65534) == 0);
}

/* A thread of asynchronous cancel type makes the first call of its process, and is cancelled in it. */
static void habit_asynchronous(void) {
  CHECK(pipe(ends) == 0);
  for (int i = 0; i < 16; i++) {
    pid_t child = fork();
    if (child == 0) {
      pthread_t thread;
      void *result = NULL;
      CHECK(pthread_create(&thread, NULL, work_until_cancelled, NULL) == 0);
      if (i % 4 > 0) usleep((unsigned)i * 200);
      CHECK(pthread_cancel(thread) == 0);
      CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
      exit(0);
    }
    CHECK(status_of(child) == 0);
  }
}

/* Its descriptor 2 is a file, before the sink turns out not to be there. */
static void habit_stderr(void) {
  CHECK(dup2(file("kept"), 2) == 2);
  CHECK(write(2, "mine\n", 5) == 5);
  usleep(300000);
}

static void habit_errno(void) {
  int fd = file("data"), listening = socket(AF_INET, SOCK_STREAM, 0);
  char byte;
  errno = 77;
  CHECK(write(fd, bytes, 1) == 1 && errno == 77);
  CHECK(read(fd, &byte, 1) == 0 && errno == 77);
  CHECK(fsync(fd) == 0 && errno == 77);
  CHECK(accept(fd, NULL, NULL) == -1 && errno == ENOTSOCK);
  CHECK(accept(listening, NULL, NULL) == -1 && errno == EINVAL);
  CHECK(send(listening, &byte, 1, MSG_NOSIGNAL) == -1 && errno == EPIPE);
  CHECK(read(-1, &byte, 1) == -1 && errno == EBADF);
  CHECK(read(1 << 30, &byte, 1) == -1 && errno == EBADF);
  CHECK(close(-1) == -1 && errno == EBADF);
  CHECK(open("/nonexistent", O_RDONLY) == -1 && errno == ENOENT);
  CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) == -1 &&
        errno == EFAULT); /* asks whether there are any */
  char *nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(write(fd, nowhere, 1) == -1 && errno == EFAULT);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(void);
  } habits[] = {{"fork", habit_fork},
                {"vfork", habit_vfork},
                {"cancel", habit_cancel},
                {"signal", habit_signal},
                {"behind", habit_behind},
                {"close", habit_close},
                {"seccomp", habit_seccomp},
                {"sandbox", habit_sandbox},
                {"stall", habit_stall},
                {"daemon", habit_daemon},
                {"exec", habit_exec},
                {"user", habit_user},
                {"errno", habit_errno},
                {"stderr", habit_stderr},
                {"limits", habit_limits},
                {"slow", habit_slow},
                {"filtered", habit_filtered},
                {"namespaces", habit_namespaces},
                {"missing", habit_missing},
                {"handler", habit_handler},
                {"spawn", habit_spawn},
                {"fifo", habit_fifo},
                {"shared", habit_shared},
                {"table", habit_table},
                {"shared-table", habit_shared_table},
                {"executed", habit_executed},
                {"masked", habit_masked},
                {"little", habit_little},
                {"locked", habit_locked},
                {"keep", habit_keep},
                {"asynchronous", habit_asynchronous}};
  if (argc < 3) return 2;
  folder = argv[2];
  if (strcmp(argv[1], "threads") == 0) habit_threads(atoi(argv[3]));
  if (strcmp(argv[1], "descriptors") == 0) habit_descriptors(atoi(argv[3]));
  for (size_t i = 0; i < sizeof habits / sizeof *habits; i++)
    if (strcmp(argv[1], habits[i].name) == 0) habits[i].run();
  return 0;
}
