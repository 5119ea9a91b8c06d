/* Threads of the library; ends of the program that run no exit handlers; and what the emitter must have ended before.
 */
#include "given.h"
#include "measure.h"
#include "page.h"
#include "real.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

/* --- threads --- */

/* A thread that a thread of the library creates, a sink's, is one of the library, too. */
typedef struct beginning {
  void *(*posix)(void *);
  int (*c11)(void *);
  void *argument;
  uint32_t inside;
} beginning;

/* A program with mlockall has all of a stack in memory; and the default follows its limits, which may be small. */
enum { STACK_BYTES = 1 << 20 };

static void count_thread(uint32_t change) {
  if (io_page != NULL) __atomic_fetch_add(&io_page->threads, change, __ATOMIC_RELAXED);
}

/* One that finds no place is not asked for its capabilities. */
static void name_thread(uint32_t before, uint32_t after) {
  for (int i = 0; io_page != NULL && i < IO_THREADS_MAX; i++) {
    uint32_t expected = before;
    if (__atomic_compare_exchange_n(&io_page->tids[i], &expected, after, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      return;
  }
}

static void thread_ends(void *unused) {
  (void)unused;
  name_thread((uint32_t)gettid(), 0);
  count_thread(-1u);
}

static beginning begin_inside(void *given) {
  beginning taken = *(beginning *)given;
  free(given);
  ll_tls_inside = taken.inside;
  name_thread(0, (uint32_t)gettid());
  return taken;
}

static void *posix_inside(void *given) {
  void *result;
  pthread_cleanup_push(thread_ends, NULL);
  beginning taken = begin_inside(given);
  result = taken.posix(taken.argument);
  pthread_cleanup_pop(1);
  return result;
}

static int c11_inside(void *given) {
  int result;
  pthread_cleanup_push(thread_ends, NULL);
  beginning taken = begin_inside(given);
  result = taken.c11(taken.argument);
  pthread_cleanup_pop(1);
  return result;
}

static beginning *keep(beginning begun) {
  beginning *kept = malloc(sizeof *kept);
  begun.inside = 1 | (ll_tls_inside & LL_INSIDE_APART);
  if (kept != NULL) *kept = begun;
  return kept;
}

WRAPPED(int, pthread_create,
        (pthread_t * thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument)) {
  if (ll_tls_inside == 0) return CALL(pthread_create)(thread, attributes, function, argument);
  beginning *kept = keep((beginning){.posix = function, .argument = argument});
  if (kept == NULL) return EAGAIN;
  count_thread(1);
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, STACK_BYTES);
  int error = CALL(pthread_create)(thread, attributes != NULL ? attributes : &small, posix_inside, kept);
  if (error == 0) return 0;
  count_thread(-1u);
  free(kept);
  return error;
}

WRAPPED(int, thrd_create, (thrd_t * thread, thrd_start_t function, void *argument)) {
  if (ll_tls_inside == 0) return CALL(thrd_create)(thread, function, argument);
  beginning *kept = keep((beginning){.c11 = function, .argument = argument});
  if (kept == NULL) return thrd_nomem;
  count_thread(1);
  int error = CALL(thrd_create)(thread, c11_inside, kept);
  if (error == thrd_success) return error;
  count_thread(-1u);
  free(kept);
  return error;
}

/* --- exit --- */

#define LEAVE(name)                                                                                                    \
  WRAPPED(__attribute__((noreturn)) void, name, (int status)) {                                                        \
    io_finish();                                                                                                       \
    io_leave_run();                                                                                                    \
    CALL(name)(status);                                                                                                \
    __builtin_unreachable();                                                                                           \
  }
LEAVE(_exit)
LEAVE(_Exit)

/* The parent ends in libc, behind us. */
WRAPPED(int, daemon, (int keep_directory, int keep_streams)) {
  io_flush();
  return CALL(daemon)(keep_directory, keep_streams);
}

/* --- seccomp: the system calls of a harvester or of fstat may not be among those that the filter allows --- */

static bool filtered;

bool io_is_filtered(void) {
  return __atomic_load_n(&filtered, __ATOMIC_RELAXED);
}

static void filters(void) {
  if (ll_tls_inside != 0) return;
  __atomic_store_n(&filtered, true, __ATOMIC_RELAXED);
  if (io_is_on()) io_stop("installs a seccomp filter");
}

WRAPPED(int, prctl, (int option, ...)) {
  unsigned long given[4];
  va_list more;
  va_start(more, option);
  for (int i = 0; i < 4; i++)
    given[i] = va_arg(more, unsigned long);
  va_end(more);
  bool asks = given[0] == SECCOMP_MODE_FILTER && !io_is_readable((const void *)given[1], sizeof(struct sock_fprog));
  if (option == PR_SET_SECCOMP && !asks) filters(); /* a filter that is not there: whether the kernel knows them */
  return CALL(prctl)(option, given[0], given[1], given[2], given[3]);
}

int seccomp_load(const void *filter); /* of libseccomp, which calls syscall(2) itself */

WRAPPED(int, seccomp_load, (const void *filter)) {
  filters();
  return CALL(seccomp_load)(filter);
}

/* --- namespaces: some may only be entered by a process without threads, and the emitter has one --- */

enum {
  ENDING_MS = 50, /* how long the kernel counts a thread of the library that has ended */
  CLOSING_MS = 1000,
  SHARED = CLONE_NEWUSER | CLONE_THREAD | CLONE_SIGHAND | CLONE_VM,
  ENTERED = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWTIME,
};

static uint32_t library_threads(void) {
  return __atomic_load_n(&io_page->threads, __ATOMIC_RELAXED);
}

/* Without /proc they count as the library's: ask for it before. */
static uint32_t other_threads(void) {
  struct stat tasks; /* a folder for each thread */
  bool known = stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink > 2;
  return known ? (uint32_t)tasks.st_nlink - 3 : library_threads();
}

/* unshare and setns are no cancellation points. */
static void wait_a_moment(void) {
  struct timespec moment = {0, 1000000};
  syscall(SYS_nanosleep, &moment, NULL);
}

/* True: there were no other threads than the library's, which have ended. */
static bool stop_threads(void) {
  int error = errno, tries = 0;
  bool ours = io_is_emitting() && other_threads() > 0;
  while (ours && other_threads() > library_threads()) {
    ours = tries++ < ENDING_MS;
    wait_a_moment();
  }
  if (ours) io_stop("enters a user, mount or time namespace");
  for (tries = 0; ours && other_threads() > 0 && tries < CLOSING_MS; tries++)
    wait_a_moment();
  errno = error;
  return ours;
}

#define ENTER(name, parameters, arguments, needs_no_threads)                                                           \
  WRAPPED(int, name, parameters) {                                                                                     \
    int result = CALL(name) arguments;                                                                                 \
    return result != 0 && (needs_no_threads) && stop_threads() ? CALL(name) arguments : result;                        \
  }
ENTER(setns, (int fd, int kind), (fd, kind),
      (kind == 0 || (kind & ENTERED) != 0) && (errno == EINVAL || errno == EUSERS))

/* --- tables of descriptors: one that the program leaves would stay with the library's threads, open as it is --- */

static bool shared; /* with a process, which may be this one's parent. Until an exec */

WRAPPED(int, clone, (int (*function)(void *), void *stack, int flags, void *argument, ...)) {
  va_list more;
  va_start(more, argument);
  pid_t *parent = va_arg(more, pid_t *);
  void *tls = va_arg(more, void *);
  pid_t *child = va_arg(more, pid_t *);
  va_end(more);
  if ((flags & CLONE_FILES) != 0 && (flags & CLONE_THREAD) == 0) __atomic_store_n(&shared, true, __ATOMIC_RELAXED);
  return CALL(clone)(function, stack, flags, argument, parent, tls, child);
}

/* Only those that certainly run. */
static uint32_t named_threads(void) {
  uint32_t named = 0;
  for (int i = 0; i < IO_THREADS_MAX; i++)
    named += __atomic_load_n(&io_page->tids[i], __ATOMIC_RELAXED) != 0;
  return named;
}

/* A thread of the library that begins or ends meanwhile must not stand for one of the program's. */
static bool is_single(void) {
  for (int tries = 0; tries < ENDING_MS; tries++) {
    uint32_t before = named_threads(), others = other_threads(), after = named_threads();
    if (others == (before < after ? before : after)) return true;
    if (others > library_threads()) return false;
    wait_a_moment();
  }
  return false;
}

bool io_has_table_alone(void) {
  IO_KEEPS_ERRNO;
  return ll_tls_inside == 0 && !__atomic_load_n(&shared, __ATOMIC_RELAXED) && io_is_emitting() &&
         access("/proc/self/task", F_OK) == 0 && is_single();
}

WRAPPED(int, unshare, (int flags)) {
  int rest = (flags & CLONE_FILES) != 0 && io_has_table_alone() ? flags & ~CLONE_FILES : flags;
  int result = CALL(unshare)(rest);
  return result != 0 && (flags & SHARED) != 0 && errno == EINVAL && stop_threads() ? CALL(unshare)(rest) : result;
}

/* --- change of user and groups: libc makes the system call in every thread, and aborts the program if one may what
 * another may not. Capabilities belong to threads, and libc has no call that changes them in all: a program that keeps
 * some has them in its own thread only --- */

enum { RIGHTS = 1 << CAP_SETUID | 1 << CAP_SETGID };

/* That decide about such a call. */
static uint32_t rights_of(uint32_t thread) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, (int)thread};
  struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {{0, 0, 0}};
  return syscall(SYS_capget, &header, sets) == 0 ? sets[0].effective & RIGHTS : 0;
}

/* A thread that has just been made has no place yet. */
static bool all_have(uint32_t rights) {
  for (int tries = 0; tries < CLOSING_MS; tries++) {
    uint32_t known = 0;
    for (int i = 0; i < IO_THREADS_MAX; i++) {
      uint32_t thread = __atomic_load_n(&io_page->tids[i], __ATOMIC_RELAXED);
      if (thread != 0 && rights_of(thread) != rights) return false;
      known += thread != 0;
    }
    if (known >= library_threads() || known == IO_THREADS_MAX) return true;
    wait_a_moment();
  }
  return false;
}

static void agree(void) {
  IO_KEEPS_ERRNO;
  if (ll_tls_inside != 0 || !io_is_emitting() || library_threads() == 0 || all_have(rights_of(0))) return;
  io_stop("has kept capabilities over a change of user");
  for (int tries = 0; library_threads() > 0 && tries < CLOSING_MS; tries++)
    wait_a_moment();
}

#define CHANGE(name, parameters, arguments)                                                                            \
  WRAPPED(int, name, parameters) {                                                                                     \
    agree();                                                                                                           \
    return CALL(name) arguments;                                                                                       \
  }
CHANGE(setuid, (uid_t user), (user))
CHANGE(seteuid, (uid_t user), (user))
CHANGE(setreuid, (uid_t user, uid_t effective), (user, effective))
CHANGE(setresuid, (uid_t user, uid_t effective, uid_t saved), (user, effective, saved))
CHANGE(setgid, (gid_t group), (group))
CHANGE(setegid, (gid_t group), (group))
CHANGE(setregid, (gid_t group, gid_t effective), (group, effective))
CHANGE(setresgid, (gid_t group, gid_t effective, gid_t saved), (group, effective, saved))
CHANGE(setgroups, (size_t count, const gid_t *groups), (count, groups))
CHANGE(initgroups, (const char *user, gid_t group), (user, group))
