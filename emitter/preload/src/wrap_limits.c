/* Limits of the address space, which the program sets for what it needs itself: the library's rings, and the stacks and
 * heaps of its threads, come on top. Most of it is reserved, not used. The program reads what it has set. */
#include "measure.h"
#include "real.h"

#include <errno.h>
#include <string.h>
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

static void hide(int resource, struct rlimit *limit) {
  if (raised[resource] == 0) return;
  if (limit->rlim_cur == raised[resource]) limit->rlim_cur -= RESERVED;
  if (limit->rlim_max != RLIM_INFINITY && limit->rlim_max >= raised[resource]) limit->rlim_max -= RESERVED;
}

typedef int setter(__rlimit_resource_t, const struct rlimit *);

/* A hard limit from outside may not allow more; then the program gets what it asked for. */
static int set(int resource, const struct rlimit *limit, setter *call) {
  struct rlimit more = {raise_one(limit->rlim_cur), raise_one(limit->rlim_max)};
  int error = errno;
  if (call(resource, &more) != 0) {
    errno = error;
    return call(resource, limit);
  }
  raised[resource] = more.rlim_cur == RLIM_INFINITY ? 0 : more.rlim_cur;
  return 0;
}

#define SET(name, type)                                                                                                \
  WRAPPED(int, name, (__rlimit_resource_t resource, const type *limit)) {                                              \
    if (!is_of_memory((int)resource)) return CALL(name)(resource, limit);                                              \
    return set((int)resource, (const struct rlimit *)limit, (setter *)CALL(name));                                     \
  }

#define GET(name, type)                                                                                                \
  WRAPPED(int, name, (__rlimit_resource_t resource, type * limit)) {                                                   \
    int result = CALL(name)(resource, limit);                                                                          \
    if (result == 0 && is_of_memory((int)resource)) hide((int)resource, (struct rlimit *)limit);                       \
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
    struct rlimit more;                                                                                                \
    bool ours = is_of_memory((int)resource) && (pid == 0 || pid == getpid());                                          \
    if (!ours || given == NULL) {                                                                                      \
      int result = CALL(name)(pid, resource, given, before);                                                           \
      if (ours && result == 0 && before != NULL) hide((int)resource, (struct rlimit *)before);                         \
      return result;                                                                                                   \
    }                                                                                                                  \
    if (before != NULL && name(pid, resource, NULL, before) != 0) return -1;                                           \
    memcpy(&more, given, sizeof more);                                                                                 \
    return setrlimit(resource, &more);                                                                                 \
  }
BOTH(prlimit, struct rlimit)
BOTH(prlimit64, struct rlimit64)
