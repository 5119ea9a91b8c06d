#include "calls.h"

#include <string.h>
#include <sys/syscall.h>

enum { FIRST = 1, SECOND = 2 }; /* the argument that is the descriptor */

/* Moves bytes, or waits on its descriptor. */
#define ON(name, verb_) [SYS_##name] = {.verb = KERNEL_VERB_##verb_, .by_descriptor = FIRST}
#define ON_SECOND(name, verb_) [SYS_##name] = {.verb = KERNEL_VERB_##verb_, .by_descriptor = SECOND}
#define WAIT(name, reason_) [SYS_##name] = {.reason = KERNEL_REASON_##reason_}
#define POLL(name) [SYS_##name] = {.verb = KERNEL_VERB_POLL, .reason = KERNEL_REASON_POLL}

static const struct kernel_call known[KERNEL_CALLS] = {
    ON(read, READ),
    ON(pread64, READ),
    ON(readv, READ),
    ON(preadv, READ),
    ON(preadv2, READ),
    ON(recvfrom, READ),
    ON(recvmsg, READ),
    ON(recvmmsg, NONE), /* returns the number of messages, not of bytes */
    ON(write, WRITE),
    ON(pwrite64, WRITE),
    ON(writev, WRITE),
    ON(pwritev, WRITE),
    ON(pwritev2, WRITE),
    ON(sendto, WRITE),
    ON(sendmsg, WRITE),
    ON(sendmmsg, NONE),
    ON(sendfile, WRITE), /* its first descriptor is where it writes to */
    ON(vmsplice, WRITE),
    ON(fsync, SYNC),
    ON(fdatasync, SYNC),
    ON(sync_file_range, SYNC),
    ON(syncfs, SYNC),
    ON(connect, CONNECT),
    ON(accept, ACCEPT),
    ON(accept4, ACCEPT),
    ON(ioctl, NONE),
    ON(flock, NONE),
    ON(splice, NONE),
    ON(copy_file_range, NONE),
    ON(ftruncate, NONE),
    ON(fallocate, NONE),
    POLL(ppoll),
    POLL(pselect6),
    POLL(epoll_pwait),
#ifdef SYS_epoll_pwait2
    POLL(epoll_pwait2),
#endif
#ifdef SYS_poll
    POLL(poll),
    POLL(select),
    POLL(epoll_wait),
    WAIT(pause, SIGNAL),
#endif
    WAIT(futex, LOCK),
    WAIT(nanosleep, SLEEP),
    WAIT(clock_nanosleep, SLEEP),
    WAIT(wait4, CHILD),
    WAIT(waitid, CHILD),
    WAIT(rt_sigsuspend, SIGNAL),
    WAIT(rt_sigtimedwait, SIGNAL),
    WAIT(io_getevents, DISK),
#ifdef SYS_io_uring_enter
    WAIT(io_uring_enter, URING),
#endif
};

void calls_describe(struct kernel_call calls[KERNEL_CALLS]) {
  memcpy(calls, known, sizeof known);
}
