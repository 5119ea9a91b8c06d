/* Threads of the library; ends of the program that run no exit handlers; and what the emitter must have ended before.
 */
#include "measure.h"
#include "own.h"
#include "real.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <threads.h>
#include <unistd.h>

/* --- threads --- */

/* A thread that a thread of the library creates, a sink's, is one of the library, too. */
typedef struct beginning {
  void *(*posix)(void *);
  int (*c11)(void *);
  void *argument;
} beginning;

static beginning begin_inside(void *given) {
  beginning taken = *(beginning *)given;
  free(given);
  ll_tls_inside = 1;
  return taken;
}

static void *posix_inside(void *given) {
  beginning taken = begin_inside(given);
  return taken.posix(taken.argument);
}

static int c11_inside(void *given) {
  beginning taken = begin_inside(given);
  return taken.c11(taken.argument);
}

static beginning *keep(beginning begun) {
  beginning *kept = malloc(sizeof *kept);
  if (kept != NULL) *kept = begun;
  return kept;
}

WRAPPED(int, pthread_create,
        (pthread_t * thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument)) {
  if (ll_tls_inside == 0) return CALL(pthread_create)(thread, attributes, function, argument);
  beginning *kept = keep((beginning){.posix = function, .argument = argument});
  if (kept == NULL) return EAGAIN;
  int error = CALL(pthread_create)(thread, attributes, posix_inside, kept);
  if (error != 0) free(kept);
  return error;
}

WRAPPED(int, thrd_create, (thrd_t * thread, thrd_start_t function, void *argument)) {
  if (ll_tls_inside == 0) return CALL(thrd_create)(thread, function, argument);
  beginning *kept = keep((beginning){.c11 = function, .argument = argument});
  if (kept == NULL) return thrd_nomem;
  int error = CALL(thrd_create)(thread, c11_inside, kept);
  if (error != thrd_success) free(kept);
  return error;
}

/* --- exit --- */

#define LEAVE(name)                                                                                                    \
  WRAPPED(__attribute__((noreturn)) void, name, (int status)) {                                                        \
    io_finish();                                                                                                       \
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

#define FILTERED "installs a seccomp filter"

WRAPPED(int, prctl, (int option, ...)) {
  unsigned long given[4];
  va_list more;
  va_start(more, option);
  for (int i = 0; i < 4; i++)
    given[i] = va_arg(more, unsigned long);
  va_end(more);
  if (option == PR_SET_SECCOMP && io_is_on()) io_stop(FILTERED);
  return CALL(prctl)(option, given[0], given[1], given[2], given[3]);
}

int seccomp_load(const void *filter); /* of libseccomp, which calls syscall(2) itself */

WRAPPED(int, seccomp_load, (const void *filter)) {
  if (io_is_on()) io_stop(FILTERED);
  return CALL(seccomp_load)(filter);
}

/* --- namespaces: some may only be entered by a process without threads, and the emitter has one --- */

enum { TRIES = 1000 };

static bool stop_threads(void) {
  if (errno != EINVAL || !io_is_emitting()) return false;
  io_stop("enters a user or mount namespace");
  return true;
}

/* Threads are gone a moment after they have ended. */
#define ENTER(name, parameters, arguments, kinds)                                                                      \
  WRAPPED(int, name, parameters) {                                                                                     \
    int result = CALL(name) arguments;                                                                                 \
    if (result == 0 || !(kinds) || !stop_threads()) return result;                                                     \
    for (int i = 0; i < TRIES && (result = CALL(name) arguments) != 0 && errno == EINVAL; i++)                         \
      usleep(1000);                                                                                                    \
    return result;                                                                                                     \
  }
ENTER(unshare, (int flags), (flags), (flags & CLONE_NEWUSER) != 0)
ENTER(setns, (int fd, int kind), (fd, kind), kind == 0 || (kind & (CLONE_NEWUSER | CLONE_NEWNS)) != 0)
