/* A process that ends in an unusual way: ends WHAT. Its serial numbers, from 1, are those that must arrive. Its status
 * is the one that it would have without a library. */
#include <lifeline/lifeline.h>

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

LL_EVENT(serial, "test.serial", LL_INFO, (u64, serial, ""), (u32, pid, ""));

enum { EACH = 1000 };

static pthread_barrier_t gate;

static void emit(uint64_t from, uint64_t count) {
  for (uint64_t i = from; i < from + count; i++)
    ll_emit(serial, i, (uint32_t)getpid());
}

static void require(int good, const char *what) {
  if (good) return;
  fprintf(stderr, "%s: %s\n", what, strerror(errno));
  _exit(99);
}

static void require_crash_safety(void) {
  ll_statistics now = {.size = sizeof now};
  ll_stats(&now);
  require(now.crash_safe, "no ring file");
}

static int main_has_ended(void) {
  char path[64], text[200] = "";
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)getpid());
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  require(fd >= 0 && read(fd, text, sizeof text - 1) > 0, path);
  close(fd);
  return strstr(text, ") Z ") != NULL;
}

static void start(void *(*body)(void *)) {
  pthread_t thread;
  require(pthread_create(&thread, NULL, body, NULL) == 0, "pthread_create");
  pthread_detach(thread);
}

/* --- the main thread ends first --- */

static void emit_late(void) {
  emit(EACH + 1, EACH);
}

static void *emit_after_main(void *unused) {
  (void)unused;
  while (!main_has_ended())
    usleep(1000);
  ll_init(NULL); /* returns when the sink's exit handlers are registered */
  emit(1, EACH);
  require_crash_safety();
  atexit(emit_late); /* libc calls it in the last thread */
  return NULL;
}

static int main_exits(void) {
  ll_init(NULL);
  start(emit_after_main);
  pthread_exit(NULL);
}

static int main_exits_before_the_first_event(void) {
  start(emit_after_main);
  pthread_exit(NULL);
}

static void *cancel_main(void *of) {
  pthread_cancel(*(pthread_t *)of);
  return emit_after_main(NULL);
}

static int main_is_cancelled(void) {
  static pthread_t self;
  pthread_t thread;
  self = pthread_self();
  ll_init(NULL);
  require(pthread_create(&thread, NULL, cancel_main, &self) == 0, "pthread_create");
  pause(); /* a cancellation point */
  return 98;
}

static void *wait_and_return(void *unused) {
  (void)unused;
  pthread_barrier_wait(&gate);
  return NULL;
}

static int main_exits_in_a_forked_child(void) {
  emit(1, EACH);
  pid_t child = fork();
  if (child == 0) {
    emit(EACH + 1, EACH);
    pthread_barrier_init(&gate, NULL, 2);
    start(wait_and_return);
    pthread_barrier_wait(&gate);
    pthread_exit(NULL);
  }
  int status;
  return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}

static void *outlive_main(void *unused) {
  (void)unused;
  usleep(300000);
  return NULL;
}

static void *return_null(void *unused) {
  (void)unused;
  pthread_exit(NULL);
}

static void main_exits_while_another_thread_runs(void) {
  start(outlive_main);
  pthread_exit(NULL);
}

static void leave_proc(void) {
  if (chroot("/dev/shm") != 0) require(errno == EPERM, "chroot"); /* of another user than root's */
}

static void take_descriptors(void) {
  const struct rlimit none = {0, 0};
  require(setrlimit(RLIMIT_NOFILE, &none) == 0, "setrlimit");
}

/* The sink cannot open its file for the last batch, and says so. The first pthread_exit loads a library. */
static void prepare_exit(void) {
  pthread_t thread;
  setenv("LIFELINE_FLUSH_TIMEOUT_MS", "300", 1);
  require(freopen("/dev/null", "w", stderr) != NULL, "/dev/null");
  emit(1, EACH);
  require(ll_flush(300000) == 0, "ll_flush");
  require(pthread_create(&thread, NULL, return_null, NULL) == 0 && pthread_join(thread, NULL) == 0, "a thread");
}

static int main_exits_without_descriptors(void) {
  prepare_exit();
  take_descriptors();
  main_exits_while_another_thread_runs();
  return 0;
}

static int main_exits_without_proc(void) {
  prepare_exit();
  leave_proc();
  main_exits_while_another_thread_runs();
  return 0;
}

/* --- children without a fork handler --- */

static int emit_and_return(void *status) {
  emit(EACH + 1, EACH);
  return (int)(intptr_t)status;
}

static int child_of_clone(int returned) {
  static char stack[256 << 10] __attribute__((aligned(64)));
  printf("once\n"); /* stays in the buffer of both */
  emit(1, EACH);
  pid_t child = clone(emit_and_return, stack + sizeof stack, SIGCHLD, (void *)(intptr_t)returned);
  int status;
  require(child > 0 && waitpid(child, &status, 0) == child, "clone");
  return WIFEXITED(status) && WEXITSTATUS(status) == returned ? 0 : 1;
}

static int a_clone_returns_0(void) {
  return child_of_clone(0);
}

static int a_clone_returns_7(void) {
  return child_of_clone(7);
}

static void emit_to_nowhere(void) {
  setenv("LIFELINE_RING_DIR", "/dev/null/none", 1);
  setenv("LIFELINE_URL", "null:", 1);
  require(freopen("/dev/null", "w", stderr) != NULL, "/dev/null");
}

static void *emit_first(void *unused) {
  emit(1, EACH);
  return unused;
}

static const struct loss {
  void (*now)(void);
  int emits_before;
  int in_another_thread;
} losses[] = {{leave_proc, 0, 0},       {leave_proc, 1, 0},       {leave_proc, 0, 1},       {leave_proc, 1, 1},
              {take_descriptors, 0, 0}, {take_descriptors, 1, 0}, {take_descriptors, 0, 1}, {take_descriptors, 1, 1}};

static int lose_and_return(void *given) {
  const struct loss *loss = given;
  pthread_t thread;
  if (!loss->emits_before) loss->now();
  if (!loss->in_another_thread) emit(1, EACH);
  if (loss->in_another_thread) require(pthread_create(&thread, NULL, emit_first, NULL) == 0, "pthread_create");
  if (loss->in_another_thread) require(pthread_join(thread, NULL) == 0, "pthread_join");
  if (loss->emits_before) loss->now();
  return 7;
}

static int child_ends_with_7(const struct loss *loss) {
  static char stack[256 << 10] __attribute__((aligned(64)));
  pid_t child = clone(lose_and_return, stack + sizeof stack, SIGCHLD, (void *)(uintptr_t)loss);
  int status, waits = 20000;
  require(child > 0, "clone");
  for (; waits > 0 && waitpid(child, &status, WNOHANG) == 0; waits--)
    usleep(1000);
  if (waits == 0) kill(child, SIGKILL);
  require(waits > 0, "the child hangs");
  return WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

static int a_clone_loses_what_shows_its_end(void) {
  emit_to_nowhere();
  ll_init(NULL);
  for (size_t i = 0; i < sizeof losses / sizeof losses[0]; i++)
    require(child_ends_with_7(&losses[i]), "a child ends in another way");
  return 0;
}

/* Threads that hold locks of libc most of the time. */
static void *take_locks(void *unused) {
  for (;;) {
    void *library = dlopen("libz.so.1", RTLD_NOW);
    if (library != NULL) dlclose(library);
  }
  return unused;
}

static pid_t clone_that_emits(int flags, int to_end) {
  pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD | flags, 0, 0, 0, 0);
  if (child != 0) return child;
  ll_emit(serial, 1, 1); /* no event of the row's: they are recovered or not, as it was killed */
  if (to_end) _exit(0);
  for (;;)
    pause();
}

/* What a child that was killed left running would keep the pipe from its end. */
static int clones_are_killed_as_they_start(void) {
  int ends[2];
  emit_to_nowhere();
  require(pipe(ends) == 0, "pipe");
  ll_init(NULL);
  start(take_locks);
  for (int i = 0; i < 200; i++) {
    pid_t child = clone_that_emits(0, 0);
    require(child > 0, "clone");
    usleep((useconds_t)(i % 15) * 100);
    kill(child, SIGKILL);
    require(waitpid(child, NULL, 0) == child, "waitpid");
  }
  close(ends[1]);
  struct pollfd end = {ends[0], POLLIN, 0};
  require(poll(&end, 1, 500) == 1, "the pipe has not ended");
  _exit(0);
}

static void *wait_for_anything(void *unused) {
  while (waitpid(-1, NULL, __WALL) > 0 || errno == ECHILD)
    usleep(100);
  return unused;
}

static int a_clone_waits_for_any_child(void) {
  emit(1, EACH);
  pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (child == 0) {
    start(wait_for_anything);
    emit(EACH + 1, EACH);
    _exit(ll_flush(300000));
  }
  int status;
  return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}

/* Both have the number 1. */
static int clones_are_process_1(void) {
  emit_to_nowhere();
  if (unshare(CLONE_NEWPID) != 0) return errno == EPERM ? 0 : 1;
  pid_t first = fork();
  if (first == 0) {
    ll_init(NULL);
    start(take_locks);
    for (int i = 0; i < 10; i++) {
      pid_t child = clone_that_emits(CLONE_NEWPID, 1);
      int waits = 10000, status;
      while (waits > 0 && waitpid(child, &status, WNOHANG) == 0)
        usleep(1000), waits--;
      require(waits > 0, "the child hangs");
    }
    _exit(0);
  }
  int status;
  return waitpid(first, &status, 0) == first && status == 0 ? 0 : 1;
}

/* --- after the shutdown --- */

static void *shut_down(void *unused) {
  ll_shutdown(300000);
  return unused;
}

/* libc makes the call in each thread, and aborts if it fails in one: only this one keeps its capabilities. */
static int change_user(void) {
  if (prctl(PR_SET_KEEPCAPS, 1) != 0 || setresuid(65534, 65534, 65534) != 0) return 0; /* it is not root's */
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {{0, 0, 0}};
  require(syscall(SYS_capget, &header, sets) == 0, "capget");
  sets[0].effective = sets[0].permitted;
  require(syscall(SYS_capset, &header, sets) == 0, "capset");
  return setgroups(0, NULL);
}

static int the_user_changes(void) {
  enum { CHILDREN = 40, PART = 2 * EACH / CHILDREN };
  for (uint64_t i = 0; i < CHILDREN; i++) {
    pid_t child = fork();
    if (child == 0) {
      pthread_t first;
      emit(1 + i * PART, PART);
      if (i % 2 == 0) require(pthread_create(&first, NULL, shut_down, NULL) == 0, "pthread_create");
      require(ll_shutdown(i % 4 < 2 ? 300000 : LL_AS_AT_EXIT) == 0, "ll_shutdown");
      if (i % 2 == 0) require(pthread_join(first, NULL) == 0, "pthread_join");
      _exit(change_user());
    }
    int status;
    require(waitpid(child, &status, 0) == child && status == 0, "a child");
  }
  return 0;
}

/* --- signals --- */

static void *emit_and_terminate(void *unused) {
  emit_after_main(unused);
  raise(SIGTERM);
  return NULL;
}

static int main_exits_and_a_thread_terminates(void) {
  ll_init(NULL);
  start(emit_and_terminate);
  pthread_exit(NULL);
}

static int ring_files(void) {
  DIR *directory = opendir(getenv("LIFELINE_RING_DIR"));
  int count = 0;
  require(directory != NULL, "opendir");
  for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
    count += strstr(entry->d_name, ".rings") != NULL;
  closedir(directory);
  return count;
}

/* The parent goes on until the child's file is recovered. */
static int a_child_leaves_at_once(void) {
  emit(1, EACH);
  require(ll_flush(300000) == 0, "ll_flush");
  pid_t child = fork();
  if (child == 0) {
    emit(EACH + 1, EACH);
    require_crash_safety();
    _exit(0);
  }
  int status;
  require(waitpid(child, &status, 0) == child && status == 0, "waitpid");
  while (ring_files() > 1)
    usleep(10000);
  return 0;
}

/* --- threads that exit --- */

static void *exit_once_more(void *unused) {
  (void)unused;
  emit(EACH + 1, EACH);
  _exit(7);
}

static void leave_by_another_thread(void) {
  start(exit_once_more);
  pause();
}

/* While main is in exit, before the emitter's own handler, another thread ends the process. */
static int two_threads_exit(void) {
  emit(1, EACH);
  atexit(leave_by_another_thread);
  return 0;
}

static volatile sig_atomic_t forked = -1;

static void fork_in_handler(int number) {
  (void)number;
  forked = fork();
  if (forked == 0) _exit(3);
}

static int a_handler_forks(void) {
  signal(SIGUSR1, fork_in_handler);
  emit(1, EACH);
  raise(SIGUSR1);
  emit(EACH + 1, EACH);
  int status;
  return waitpid(forked, &status, 0) == forked && WEXITSTATUS(status) == 3 ? 0 : 1;
}

static int is_frozen_and_goes_on(void) {
  emit(1, EACH);
  pid_t self = getpid(), child = fork();
  if (child == 0) {
    char path[64], text[200];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)self);
    for (text[0] = 0; strstr(text, ") T ") == NULL; usleep(1000)) {
      int fd = open(path, O_RDONLY);
      ssize_t length = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
      close(fd);
      text[length > 0 ? length : 0] = '\0';
    }
    kill(self, SIGCONT);
    _exit(0);
  }
  raise(SIGSTOP);
  emit(EACH + 1, EACH);
  int status;
  return waitpid(child, &status, 0) == child ? 0 : 1;
}

/* --- descriptors --- */

/* Whatever the number is, for the program it is closed. */
static void require_closed(int fd) {
  char byte = 'x';
  require(write(fd, &byte, 1) < 0 && errno == EBADF, "a closed descriptor can be written");
  require(read(fd, &byte, 1) < 0 && errno == EBADF, "a closed descriptor can be read");
}

static int standard_descriptors_are_closed(void) {
  for (int fd = 0; fd < 3; fd++)
    close(fd);
  ll_init(NULL);
  for (uint64_t i = 1; i <= 2 * EACH; i++) {
    emit(i, 1);
    for (int fd = 0; fd < 3; fd++)
      require_closed(fd);
    if (i % 100 == 0 && ll_flush(60000) != 0) return 2;
  }
  return ll_shutdown(60000);
}

/* Like a daemon, which then opens files of its own. */
static int all_descriptors_are_closed_midway(void) {
  enum { FILES = 64, PART = 50 };
  struct stat before, now;
  ino_t inodes[FILES];
  emit(1, EACH);
  require(ll_flush(60000) == 0, "the sink does not take events");
  for (int fd = 0; fd < 1024; fd++)
    close(fd);
  for (int i = 0; i < FILES; i++) {
    int fd = memfd_create("own", 0);
    require(dup2(fd, 100 + i) >= 0 && close(fd) == 0, "no file");
  }
  for (int i = 0; i < FILES; i++) {
    require(dup2(100 + i, 3 + i) == 3 + i && close(100 + i) == 0 && fstat(3 + i, &before) == 0, "no file");
    inodes[i] = before.st_ino;
  }
  for (unsigned done = 0; done < EACH; done += PART) {
    emit(EACH + 1 + done, PART);
    require(ll_flush(60000) == 0, "the sink does not take events any more");
    for (int fd = 0; fd < 3; fd++)
      require_closed(fd);
    for (int i = 0; i < FILES; i++)
      require(fstat(3 + i, &now) == 0 && now.st_ino == inodes[i] && now.st_size == 0,
              "a file of the program's was used");
  }
  return ll_shutdown(60000);
}

static const struct {
  const char *name;
  int (*go)(void);
} ways[] = {
    {"main-exits", main_exits},
    {"main-exits-before-the-first-event", main_exits_before_the_first_event},
    {"main-is-cancelled", main_is_cancelled},
    {"main-exits-in-a-forked-child", main_exits_in_a_forked_child},
    {"main-exits-and-a-thread-terminates", main_exits_and_a_thread_terminates},
    {"a-clone-returns-0", a_clone_returns_0},
    {"a-clone-returns-7", a_clone_returns_7},
    {"a-clone-loses-what-shows-its-end", a_clone_loses_what_shows_its_end},
    {"a-clone-waits-for-any-child", a_clone_waits_for_any_child},
    {"clones-are-killed-as-they-start", clones_are_killed_as_they_start},
    {"clones-are-process-1", clones_are_process_1},
    {"main-exits-without-descriptors", main_exits_without_descriptors},
    {"main-exits-without-proc", main_exits_without_proc},
    {"the-user-changes", the_user_changes},
    {"a-handler-forks", a_handler_forks},
    {"a-child-leaves-at-once", a_child_leaves_at_once},
    {"is-frozen-and-goes-on", is_frozen_and_goes_on},
    {"two-threads-exit", two_threads_exit},
    {"standard-descriptors-are-closed", standard_descriptors_are_closed},
    {"all-descriptors-are-closed-midway", all_descriptors_are_closed_midway},
};

int main(int argc, char **argv) {
  for (size_t i = 0; argc > 1 && i < sizeof ways / sizeof ways[0]; i++)
    if (strcmp(argv[1], ways[i].name) == 0) return ways[i].go();
  return 96;
}
