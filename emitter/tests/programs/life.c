/* Emits serial numbers, from 1, around an event in the life of a process: life WHAT [ARGUMENT...]. The tests check
 * which arrived. Exits with 0 unless the program itself detects an error. */
#include <lifeline/lifeline.h>

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

LL_EVENT(serial, "test.serial", LL_INFO, (u64, serial, ""), (u32, pid, ""));

enum { EACH = 1000, PATIENCE_MS = 300000 };

static char **arguments; /* arguments after WHAT */

static void emit(uint64_t from, uint64_t count) {
  for (uint64_t i = from; i < from + count; i++)
    ll_emit(serial, i, (uint32_t)getpid());
}

static int wait_for(pid_t child) {
  int status;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

static int plainly(void) {
  emit(1, EACH);
  return 0;
}

/* --- other programs --- */

static char *self(void) {
  static char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  path[length > 0 ? length : 0] = '\0';
  return path;
}

static char life[] = "life", the_second[] = "second";
static char *const as_second[] = {life, the_second, NULL};

/* The program that the others execute: it continues the numbers. */
static int second(void) {
  emit(EACH + 1, EACH);
  return 0;
}

static int fork_and_exec(void) {
  emit(1, EACH);
  pid_t child = fork();
  if (child == 0) {
    execv(self(), as_second);
    _exit(98);
  }
  return wait_for(child);
}

static int vfork_and_exec(void) {
  const char *path = self();
  emit(1, EACH);
  pid_t child = vfork();
  if (child == 0) {
    execv(path, as_second);
    _exit(98);
  }
  return wait_for(child);
}

static int vfork_and_leave(void) {
  emit(1, EACH);
  pid_t child = vfork();
  if (child == 0) _exit(7);
  emit(EACH + 1, EACH);
  return wait_for(child) == 7 ? 0 : 1;
}

static int spawn(void) {
  extern char **environ;
  emit(1, EACH);
  pid_t child;
  if (posix_spawn(&child, self(), NULL, NULL, as_second, environ) != 0) return 1;
  return wait_for(child);
}

/* The same process executes another program. */
static int exec_again(void) {
  emit(1, EACH);
  execv(self(), as_second);
  return 98;
}

static int become_a_daemon(void) {
  emit(1, EACH);
  if (daemon(1, 1) != 0) return 1;
  emit(EACH + 1, EACH);
  return ll_shutdown(PATIENCE_MS);
}

/* --- ends --- */

static int leave_at_once(void) {
  emit(1, EACH);
  _exit(0);
}

static int leave_quickly(void) {
  emit(1, EACH);
  quick_exit(0);
}

static int be_aborted(void) {
  emit(1, EACH);
  abort();
}

static void emit_late(void) {
  emit(EACH + 1, EACH);
}

static int emit_at_exit(void) {
  if (ll_init(NULL) != 0) return 1;
  atexit(emit_late);
  emit(1, EACH);
  return 0;
}

static void count_too_late(void) {
  emit_late();
  ll_statistics now = {.size = sizeof now};
  ll_stats(&now);
  if (now.dropped_shutdown != EACH) _exit(1);
}

static int emit_at_exit_too_late(void) {
  atexit(count_too_late); /* registered before the emitter starts, so called after it ended */
  emit(1, EACH);
  return 0;
}

static int emit_after_shutdown(void) {
  emit(1, EACH);
  if (ll_shutdown(PATIENCE_MS) != 0) return 1;
  emit(EACH + 1, EACH);
  ll_statistics now = {.size = sizeof now};
  ll_stats(&now);
  return now.dropped_shutdown == EACH && now.emitted == 2 * EACH && !now.on ? 0 : 2;
}

/* --- threads --- */

static pthread_key_t key;

/* Emits in each destructor round that the threads library runs, since our own destructor may run first. */
static void emit_in_destructor(void *round) {
  static uint64_t count = EACH;
  uintptr_t next = (uintptr_t)round + 1;
  emit(__atomic_add_fetch(&count, 1, __ATOMIC_RELAXED), 1);
  if (next <= 2) pthread_setspecific(key, (void *)next);
}

static void *emit_and_end(void *number) {
  pthread_setspecific(key, (void *)1);
  emit((uintptr_t)number, 1);
  return NULL;
}

enum { KEYED_THREADS = 300 };

/* A signal ends it while it waits for a sink that acknowledges nothing. */
static int wait_in_vain(void) {
  emit(1, EACH);
  alarm(1);
  if (strcmp(arguments[0], "flush") == 0) return ll_flush(60000);
  if (strcmp(arguments[0], "shutdown") == 0) return ll_shutdown(60000);
  return 0; /* flushes in exit */
}

static int emit_in_key_destructors(void) {
  pthread_key_create(&key, emit_in_destructor);
  for (uintptr_t i = 1; i <= KEYED_THREADS; i++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, emit_and_end, (void *)i) != 0) return 1;
    pthread_join(thread, NULL);
    if (i % 8 == 0 && ll_flush(PATIENCE_MS) != 0) return 2;
  }
  return 0;
}

/* --- restricted environments --- */

enum { FILES = 64 };

/* Files that this program opens after it has closed all descriptors must stay its own. */
static int close_all_descriptors(void) {
  char path[4096];
  int mine[FILES];
  emit(1, EACH);
  if (ll_flush(PATIENCE_MS) != 0) return 3;
  for (int fd = 0; fd < 1024; fd++)
    close(fd);
  for (int i = 0; i < FILES; i++) {
    snprintf(path, sizeof path, "%s/mine-%d", arguments[0], i);
    mine[i] = open(path, O_RDWR | O_CREAT | O_APPEND, 0600);
    if (mine[i] < 0) return 1;
  }
  emit(EACH + 1, EACH);
  int error = ll_shutdown(PATIENCE_MS);
  for (int i = 0; i < FILES; i++) {
    struct stat status;
    if (fstat(mine[i], &status) != 0 || !S_ISREG(status.st_mode) || status.st_size != 0) return 2;
  }
  return error;
}

static int without_proc_and_shm(void) {
  if (chroot(arguments[0]) != 0 || chdir("/") != 0) return 77;
  emit(1, EACH);
  ll_statistics now = {.size = sizeof now};
  ll_stats(&now);
  return now.crash_safe ? 1 : 0;
}

static int without_address_space(void) {
  unsigned long pages = 0;
  FILE *statm = fopen("/proc/self/statm", "r");
  if (statm == NULL || fscanf(statm, "%lu", &pages) != 1) return 77;
  fclose(statm);
  rlim_t limit = pages * (rlim_t)sysconf(_SC_PAGESIZE) + (16u << 20);
  if (setrlimit(RLIMIT_AS, &(struct rlimit){limit, limit}) != 0) return 77;
  emit(1, EACH);
  ll_statistics now = {.size = sizeof now};
  ll_stats(&now);
  return now.dropped_shutdown == EACH && !now.on ? 0 : 1;
}

/* Fills the filesystem of ARGUMENT, a file there, to the last byte. */
static int fill(void) {
  static char zeros[1 << 16];
  int fd = open(arguments[0], O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (fd < 0) return 1;
  for (size_t part = sizeof zeros; part > 0;)
    if (write(fd, zeros, part) <= 0) part = errno == ENOSPC && part > 1 ? part / 2 : 0;
  return close(fd);
}

static void *emit_one_and_stay(void *barrier) {
  static uint64_t count = EACH;
  emit(__atomic_add_fetch(&count, 1, __ATOMIC_RELAXED), 1);
  pthread_barrier_wait(barrier);
  return NULL;
}

enum { STARVED_THREADS = 40 };

/* Starts with space, continues without, and has space again. */
static int fill_midway(void) {
  pthread_t threads[STARVED_THREADS];
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, NULL, STARVED_THREADS);
  emit(1, EACH);
  if (ll_flush(PATIENCE_MS) != 0 || fill() != 0) return 1;
  for (int i = 0; i < STARVED_THREADS; i++)
    if (pthread_create(&threads[i], NULL, emit_one_and_stay, &barrier) != 0) return 2;
  for (int i = 0; i < STARVED_THREADS; i++)
    pthread_join(threads[i], NULL);
  ll_statistics now = {.size = sizeof now};
  ll_stats(&now);
  if (now.dropped_no_ring == 0) return 3;
  if (unlink(arguments[0]) != 0) return 4;
  if (ll_flush(PATIENCE_MS) != 0) return 5;
  emit(2 * EACH + 1, EACH);
  return ll_shutdown(PATIENCE_MS);
}

/* --- shared objects --- */

static int write_triggers(int round) {
  FILE *file = fopen(getenv("LIFELINE_TRIGGERS"), "w");
  if (file == NULL) return 1;
  fprintf(file, "other.* off for=%ds\nend\n", 60 + round);
  return fclose(file);
}

enum { ROUNDS = 25, PER_ROUND = 40 };

/* Meanwhile rules change, and are applied to every event type that the library knows. */
static int load_and_unload(void) {
  for (int round = 0; round < ROUNDS; round++) {
    void *plugin = dlopen(arguments[0], RTLD_NOW | RTLD_LOCAL);
    if (plugin == NULL) return 1;
    void (*plugin_emit)(uint64_t, uint64_t) = (void (*)(uint64_t, uint64_t))dlsym(plugin, "plugin_emit");
    if (plugin_emit == NULL) return 2;
    plugin_emit((uint64_t)round * PER_ROUND + 1, PER_ROUND - 1);
    if (dlclose(plugin) != 0) return 3;
    if (dlopen(arguments[0], RTLD_NOW | RTLD_NOLOAD) != NULL) return 4; /* the test requires that it is unloaded */
    if (write_triggers(round) != 0) return 5;
    usleep(100000);
  }
  return ll_shutdown(PATIENCE_MS);
}

typedef struct way {
  const char *name;
  int (*go)(void);
} way;

static const way ways[] = {
    {"plainly", plainly},
    {"second", second},
    {"fork-and-exec", fork_and_exec},
    {"vfork-and-exec", vfork_and_exec},
    {"vfork-and-leave", vfork_and_leave},
    {"spawn", spawn},
    {"exec-again", exec_again},
    {"become-a-daemon", become_a_daemon},
    {"leave-at-once", leave_at_once},
    {"leave-quickly", leave_quickly},
    {"be-aborted", be_aborted},
    {"emit-at-exit", emit_at_exit},
    {"emit-at-exit-too-late", emit_at_exit_too_late},
    {"emit-after-shutdown", emit_after_shutdown},
    {"wait-in-vain", wait_in_vain},
    {"emit-in-key-destructors", emit_in_key_destructors},
    {"close-all-descriptors", close_all_descriptors},
    {"without-proc-and-shm", without_proc_and_shm},
    {"without-address-space", without_address_space},
    {"load-and-unload", load_and_unload},
    {"fill", fill},
    {"fill-midway", fill_midway},
};

int main(int argc, char **argv) {
  arguments = argv + 2;
  for (size_t i = 0; argc > 1 && i < sizeof ways / sizeof ways[0]; i++)
    if (strcmp(argv[1], ways[i].name) == 0) return ways[i].go();
  return 96;
}
