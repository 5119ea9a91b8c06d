/* Limits of the address space, which the program sets for what it needs itself: the library's rings, and the stacks and
 * heaps of its threads, come on top. Most of it is reserved, not used. The program reads what it has set. */
#include "given.h"
#include "measure.h"
#include "real.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

#define RESERVED ((rlim_t)512 << 20)

static rlim_t raised[RLIM_NLIMITS]; /* what the kernel was given instead; 0: nothing */

static bool is_of_memory(int resource) {
  return io_is_on() && (resource == RLIMIT_AS || resource == RLIMIT_DATA);
}

static rlim_t raise_one(rlim_t limit) {
  return limit < RLIM_INFINITY - RESERVED ? limit + RESERVED : limit;
}

static void hide(rlim_t set, struct rlimit *limit) {
  if (set == 0) return;
  if (limit->rlim_cur == set) limit->rlim_cur -= RESERVED;
  if (limit->rlim_max != RLIM_INFINITY && limit->rlim_max >= set) limit->rlim_max -= RESERVED;
}

/* A hard limit from outside may not allow more; then the program gets what it asked for. */
#define SET_MORE(result, resource, limit, type, call)                                                                  \
  type more = {raise_one((limit)->rlim_cur), raise_one((limit)->rlim_max)};                                            \
  const type *wanted = (limit);                                                                                        \
  int kept = errno;                                                                                                    \
  (limit) = &more;                                                                                                     \
  int result = (call);                                                                                                 \
  bool set = result == 0 || errno == EFAULT; /* where the old limit was to be written */                               \
  if (set) raised[resource] = more.rlim_cur == RLIM_INFINITY ? 0 : more.rlim_cur;                                      \
  if (!set) errno = kept, (limit) = wanted, result = (call)

#define SET(name, type)                                                                                                \
  WRAPPED(int, name, (__rlimit_resource_t resource, const type *limit)) {                                              \
    if (!is_of_memory((int)resource) || !io_is_readable(limit, sizeof *limit)) return CALL(name)(resource, limit);     \
    SET_MORE(result, (int)resource, limit, type, CALL(name)(resource, limit));                                         \
    return result;                                                                                                     \
  }

#define GET(name, type)                                                                                                \
  WRAPPED(int, name, (__rlimit_resource_t resource, type * limit)) {                                                   \
    int result = CALL(name)(resource, limit);                                                                          \
    if (result == 0 && is_of_memory((int)resource)) hide(raised[resource], (struct rlimit *)limit);                    \
    return result;                                                                                                     \
  }

/* Both have the same members on a 64-bit machine. */
_Static_assert(sizeof(struct rlimit) == sizeof(struct rlimit64), "a 64-bit machine");
SET(setrlimit, struct rlimit)
SET(setrlimit64, struct rlimit64)
GET(getrlimit, struct rlimit)
GET(getrlimit64, struct rlimit64)

/* Of this process alone: others have preloads of their own, or none. */
#define BOTH(name, type)                                                                                               \
  WRAPPED(int, name, (pid_t pid, __rlimit_resource_t resource, const type *given, type *before)) {                     \
    bool ours = is_of_memory((int)resource) && (pid == 0 || pid == getpid());                                          \
    rlim_t was = ours ? raised[resource] : 0;                                                                          \
    if (!ours || !io_is_readable(given, sizeof *given)) {                                                              \
      int got = CALL(name)(pid, resource, given, before);                                                              \
      if (got == 0 && before != NULL) hide(was, (struct rlimit *)before);                                              \
      return got;                                                                                                      \
    }                                                                                                                  \
    SET_MORE(result, resource, given, type, CALL(name)(pid, resource, given, before));                                 \
    if (result == 0 && before != NULL) hide(was, (struct rlimit *)before);                                             \
    return result;                                                                                                     \
  }
BOTH(prlimit, struct rlimit)
BOTH(prlimit64, struct rlimit64)
