/* A daemon's years in minutes: round after round until SIGTERM a thread comes, emits and goes, a plugin with an event
 * type of its own is loaded, emits and is unloaded, a type is declared at run time, and a child is forked, emits and
 * exits.
 *
 * The side file holds how many rounds have ended. All events are {run, worker, serial}, with serials from 0 on: run 0
 * is the daemon, whose threads are worker 0 and emit EVENTS a round, while worker 1 is the plugin and the types that
 * are declared, with an event a round each; run R is the child of round R, with three events.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <lifeline/dynamic.h>
#include <lifeline/lifeline.h>

LL_EVENT(test_serial, "test.serial", LL_INFO, (u32, run, ""), (u32, worker, ""), (u64, serial, ""));

enum { EVENTS = 100, EVENTS_OF_CHILD = 3, DECLARED = 100, PAUSE_US = 1000, TIMEOUT_MS = 300000 };

static volatile sig_atomic_t stopped;
static uint64_t serial;

static void stop(int number) {
  (void)number;
  stopped = 1;
}

static _Noreturn void die(const char *what, const char *why) {
  fprintf(stderr, "long-lived: %s: %s\n", what, why);
  exit(1);
}

static void *work(void *nothing) {
  for (int i = 0; i < EVENTS; i++, serial++)
    ll_emit(test_serial, 0, 0, serial);
  return nothing;
}

static void run_thread(void) {
  pthread_t thread;
  if ((errno = pthread_create(&thread, NULL, work, NULL)) != 0) die("pthread_create", strerror(errno));
  pthread_join(thread, NULL);
}

static void run_plugin(const char *path, uint64_t round) {
  void *plugin = dlopen(path, RTLD_NOW);
  void (*emit)(uint64_t) = plugin ? (void (*)(uint64_t))dlsym(plugin, "plugin_emit") : NULL;
  if (emit == NULL) die(path, dlerror());
  emit(2 * round);
  dlclose(plugin);
}

static void run_declared(uint64_t round) {
  static const ll_dynamic_field fields[] = {{LL_U32, "run", ""}, {LL_U32, "worker", ""}, {LL_U64, "serial", ""}};
  char name[32];
  ll_dynamic *type;
  snprintf(name, sizeof name, "test.declared.%d", (int)(round % DECLARED));
  if ((errno = ll_declare(name, LL_INFO, fields, 3, &type)) != 0) die("ll_declare", strerror(errno));
  ll_emit_values(type, (ll_value[]){{.u64 = 0}, {.u64 = 1}, {.u64 = 2 * round + 1}}, 3);
}

static void run_child(uint32_t run) {
  int status;
  pid_t child = fork();
  if (child < 0) die("fork", strerror(errno));
  if (child == 0) {
    for (uint64_t i = 0; i < EVENTS_OF_CHILD; i++)
      ll_emit(test_serial, run, 0, i);
    exit(0);
  }
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) die("waitpid", strerror(errno));
  if (status != 0) die("a child", "did not exit with 0");
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fputs("Usage: long-lived SIDE PLUGIN\n", stderr);
    return 2;
  }
  int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0 || ftruncate(fd, sizeof(uint64_t)) != 0) die(argv[1], strerror(errno));
  volatile uint64_t *rounds = mmap(NULL, sizeof *rounds, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (rounds == MAP_FAILED) die(argv[1], strerror(errno));
  close(fd);
  signal(SIGTERM, stop);
  for (uint64_t round = 0; !stopped; round++) {
    run_thread();
    run_plugin(argv[2], round);
    run_declared(round);
    run_child((uint32_t)round + 1);
    *rounds = round + 1;
    usleep(PAUSE_US);
  }
  return ll_flush(TIMEOUT_MS) == 0 ? 0 : 3;
}
