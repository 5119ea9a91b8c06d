/* The functions of liblifeline that the preload and its inlined headers call, under their names, so that neither the
 * headers nor the calls are different here: symbols of this object alone (preload.map). The variables of a thread are
 * liblifeline's, too, which finds these first. */
#include "library.h"

#include "measure.h"
#include "real.h"
#include "say.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define OF_THREAD __thread __attribute__((tls_model("initial-exec")))
OF_THREAD uint32_t ll_tls_inside;
OF_THREAD ll_folder *ll_tls_folder;
OF_THREAD ll_producer *ll_tls_producer;

/* All are there, or none. */
#define FOR_EACH_FUNCTION(each)                                                                                        \
  each(ll_admit) each(ll_caliper_begin_slowly) each(ll_caliper_end_slowly) each(ll_caliper_fold) each(ll_caliper_tick) \
      each(ll_flush) each(ll_on_report) each(ll_reserve_slowly) each(ll_shutdown)

#define MEMBER(name) __typeof__(&(name)) name;
static struct { FOR_EACH_FUNCTION(MEMBER) } library;

bool ll_admit(ll_event_type *type, const ll_number *values, uint32_t *route) {
  return library.ll_admit(type, values, route);
}
ll_operation ll_caliper_begin_slowly(ll_event_type *type) {
  return library.ll_caliper_begin_slowly(type);
}
void ll_caliper_end_slowly(ll_event_type *type, uint64_t began, uint64_t ended, double value) {
  library.ll_caliper_end_slowly(type, began, ended, value);
}
void ll_caliper_fold(ll_cell *cell, uint32_t half) {
  library.ll_caliper_fold(cell, half);
}
int ll_flush(unsigned timeout_ms) {
  return library.ll_flush(timeout_ms);
}
int ll_on_report(ll_report_function function, void *ctx) {
  return library.ll_on_report(function, ctx);
}
ll_reservation ll_reserve_slowly(ll_event_type *type, size_t bytes, uint32_t route) {
  return library.ll_reserve_slowly(type, bytes, route);
}
int ll_shutdown(unsigned timeout_ms) {
  return library.ll_shutdown(timeout_ms);
}

typedef enum state { ABSENT, UNDER_WAY, THERE, FAILED } state;
static uint32_t now;

static state state_now(void) {
  return (state)__atomic_load_n(&now, __ATOMIC_ACQUIRE);
}

/* Before it is there nobody can have chosen another clock. */
uint64_t ll_caliper_tick(void) {
  return state_now() == THERE ? library.ll_caliper_tick() : LL_CPU_TICK();
}

/* --- loading --- */

static int is_library(struct dl_phdr_info *object, size_t bytes, void *name) {
  (void)bytes;
  if (strstr(object->dlpi_name, "/liblifeline.so") == NULL) return 0;
  snprintf(name, PATH_MAX, "%s", object->dlpi_name);
  return 1;
}

/* The program's, if it has one; else the one beside us. */
static void *open_library(void) {
  static char path[PATH_MAX];
  Dl_info self;
  if (dl_iterate_phdr(is_library, path) == 0) {
    const char *slash = dladdr(&now, &self) != 0 ? strrchr(self.dli_fname, '/') : NULL;
    if (slash == NULL) return NULL;
    snprintf(path, sizeof path, "%.*s/../liblifeline.so.0", (int)(slash - self.dli_fname), self.dli_fname);
  }
  return dlopen(path, RTLD_NOW);
}

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
static OF_THREAD bool held; /* by this thread, which forks */

bool io_library_load(void) {
  ll_tls_inside++;
  pthread_mutex_lock(&loading);
  void *handle = open_library();
  bool all = handle != NULL;
#define FIND(name) all = all && (library.name = (__typeof__(&(name)))dlsym(handle, #name)) != NULL;
  FOR_EACH_FUNCTION(FIND)
  __atomic_store_n(&now, all ? THERE : FAILED, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&loading);
  ll_tls_inside--;
  if (!all) io_say("liblifeline.so.0 cannot be loaded", "it is not measured");
  return all;
}

static void *load(void *unused) {
  io_library_load();
  return unused;
}

/* The thread is one of the library's (wrap_process.c), and no signal of the program's comes to it. */
static void load_in_thread(void) {
  pthread_t thread;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  ll_tls_inside++;
  if (pthread_create(&thread, NULL, load, NULL) == 0)
    pthread_detach(thread);
  else
    __atomic_store_n(&now, FAILED, __ATOMIC_RELEASE);
  ll_tls_inside--;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

bool io_library_is_there(void) {
  uint32_t absent = ABSENT;
  if (__atomic_compare_exchange_n(&now, &absent, UNDER_WAY, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    load_in_thread();
  return state_now() == THERE;
}

void io_library_before_fork(void) {
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec++;
  held = pthread_mutex_timedlock(&loading, &end) == 0;
}

void io_library_after_fork_in_parent(void) {
  if (held) pthread_mutex_unlock(&loading);
  held = false;
}

/* No thread of a child goes on with a load; one that had not begun may begin again. */
void io_library_after_fork_in_child(void) {
  static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
  uint32_t under_way = UNDER_WAY;
  __atomic_compare_exchange_n(&now, &under_way, held ? ABSENT : FAILED, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  if (!held) loading = fresh;
  io_library_after_fork_in_parent();
}
