/* Waits for descriptors. A call that does not wait (timeout 0) is no wait, nor is a sleep (no descriptors); one that
 * ends by its timeout is one. */
#include "declarations.h"
#include "given.h"
#include "measure.h"
#include "real.h"

#include <sys/epoll.h>
#include <sys/select.h>

/* Of ppoll and pselect libc itself reads the timeout first, of the others the kernel does. */
static bool is_zero(const struct timespec *timeout) {
  return timeout != NULL && timeout->tv_sec == 0 && timeout->tv_nsec == 0;
}

#define WAIT(name, may_wait, parameters, arguments) MASKED_WAIT(name, may_wait, NULL, parameters, arguments)
#define MASKED_WAIT(name, may_wait, mask, parameters, arguments)                                                       \
  WRAPPED(int, name, parameters) {                                                                                     \
    io_operation operation;                                                                                            \
    if (!io_is_on() || !(may_wait)) return CALL(name) arguments;                                                       \
    io_begin_wait(&operation, (mask) != NULL);                                                                         \
    int result = CALL(name) arguments;                                                                                 \
    io_end_wait(&operation, result);                                                                                   \
    return result;                                                                                                     \
  }

WAIT(poll, timeout != 0 && count > 0, (struct pollfd * fds, nfds_t count, int timeout), (fds, count, timeout))
WAIT(__poll, timeout != 0, (struct pollfd * fds, nfds_t count, int timeout), (fds, count, timeout))
WAIT(__poll_chk, timeout != 0 && count > 0, (struct pollfd * fds, nfds_t count, int timeout, size_t room),
     (fds, count, timeout, room))
MASKED_WAIT(ppoll, !is_zero(timeout) && count > 0, mask,
            (struct pollfd * fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask),
            (fds, count, timeout, mask))
MASKED_WAIT(__ppoll_chk, !is_zero(timeout) && count > 0, mask,
            (struct pollfd * fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask, size_t room),
            (fds, count, timeout, mask, room))
WAIT(select,
     count > 0 && (timeout == NULL ||
                   (io_is_readable(timeout, sizeof *timeout) && (timeout->tv_sec != 0 || timeout->tv_usec != 0))),
     (int count, fd_set *reads, fd_set *writes, fd_set *others, struct timeval *timeout),
     (count, reads, writes, others, timeout))
MASKED_WAIT(pselect, !is_zero(timeout) && count > 0, mask,
            (int count, fd_set *reads, fd_set *writes, fd_set *others, const struct timespec *timeout,
             const sigset_t *mask),
            (count, reads, writes, others, timeout, mask))
WAIT(epoll_wait, timeout != 0, (int fd, struct epoll_event *events, int most, int timeout), (fd, events, most, timeout))
MASKED_WAIT(epoll_pwait, timeout != 0, mask,
            (int fd, struct epoll_event *events, int most, int timeout, const sigset_t *mask),
            (fd, events, most, timeout, mask))
MASKED_WAIT(epoll_pwait2, timeout == NULL || (io_is_readable(timeout, sizeof *timeout) && !is_zero(timeout)), mask,
            (int fd, struct epoll_event *events, int most, const struct timespec *timeout, const sigset_t *mask),
            (fd, events, most, timeout, mask))
