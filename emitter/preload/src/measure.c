#include "measure.h"

#include "base/clock.h"
#include "last.h"
#include "library.h"
#include "page.h"
#include "say.h"
#include "stack.h"
#include "vfork.h"
#include "waits.h"

#include <errno.h>
#include <fcntl.h>
#include <lifeline/events.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
  FORKED_CALLS = 16, /* a child that does more, or lives longer, does not exec at once */
  FORKED_NS = 100000000,
  SHORT_NS = 1000000000, /* what lives longer becomes an emitter, if there is a table of the run */
  REFUSED_NS = 1000000000,
  FINISH_MS = 250,
};

uint32_t io_on;
io_process *io_page;
io_unseen *io_shared;
static uint16_t interval;
static io_settings settings;

/* --- calipers --- */

#define DECLARE(ident, name, unit)                                                                                     \
  LL_CALIPER(io_##ident, name, LL_INFO, unit);                                                                         \
  static void start_##ident(uint64_t id) {                                                                             \
    ll_emit(ll_start_of_io_##ident, id);                                                                               \
  }                                                                                                                    \
  static void end_##ident(uint64_t id, double value) {                                                                 \
    ll_emit(ll_end_of_io_##ident, id, value);                                                                          \
  }                                                                                                                    \
  static const io_caliper ident = {&ll_type_io_##ident, IO_CALIPER_##ident, start_##ident, end_##ident};
IO_FOR_EACH_CALIPER(DECLARE)

static const io_caliper *calipers[IO_KINDS][IO_WAYS]; /* NULL: not measured */
static const io_caliper *waits;

static void choose_calipers(void) {
  static const io_caliper *const all[IO_KINDS][IO_WAYS] = {
      [IO_DISK] = {&disk_read, &disk_write, &disk_sync, NULL, NULL},
      [IO_NET] = {&net_receive, &net_send, NULL, &net_connect, &net_accept},
      [IO_PIPE] = {&pipe_read, &pipe_write, NULL, NULL, NULL},
      [IO_OTHER] = {&other_read, &other_write, NULL, NULL, NULL},
  };
  for (int kind = 0; kind < IO_KINDS; kind++)
    for (int way = 0; way < IO_WAYS; way++)
      calipers[kind][way] = settings.measured[kind][way] ? all[kind][way] : NULL;
  waits = settings.waits ? &wait_poll : NULL;
}

/* --- the process --- */

uint16_t io_interval(void) {
  return __atomic_load_n(&interval, __ATOMIC_RELAXED);
}

static bool has_our_pid(void) {
  return io_page != NULL && io_page->pid == (uint32_t)getpid();
}

bool io_is_here(void) {
#ifdef IO_VFORK_BY_PID
  return has_our_pid();
#else
  return !io_is_vforked() && io_page->pid != 0;
#endif
}

static uint64_t monotonic_ns(void) {
  return ll_now_ns(CLOCK_MONOTONIC_COARSE);
}

bool io_is_on_signal_stack(void) {
  stack_t stack;
  return sigaltstack(NULL, &stack) == 0 && (stack.ss_flags & SS_ONSTACK) != 0;
}

/* A handler may have interrupted malloc, and have little stack. While one runs, its signal is blocked. */
static bool may_be_in_handler(void) {
  sigset_t blocked;
  struct sigaction action;
  pthread_sigmask(SIG_BLOCK, NULL, &blocked);
  for (int signal = 1; signal < NSIG; signal++)
    if (sigismember(&blocked, signal) == 1 && sigaction(signal, NULL, &action) == 0 && action.sa_handler != SIG_DFL &&
        action.sa_handler != SIG_IGN)
      return true;
  return false;
}

/* A wait that sets the signal mask is not made from a handler: a program may have its signals blocked but in these.
 * Threads of a pool have all signals blocked for good: if no other thread comes, they may. */
static bool may_start_here(bool masked_wait) {
  if (io_is_on_signal_stack()) return false;
  if (masked_wait || !may_be_in_handler()) return true;
  if (io_page->refused_ns == 0) io_page->refused_ns = monotonic_ns();
  return gettid() != getpid() && monotonic_ns() - io_page->refused_ns > REFUSED_NS;
}

static void report(void *unused, double tick_ns);

static void make_known(const io_caliper *caliper) {
  if (caliper != NULL) ll_caliper_unmark(ll_caliper_begin_slowly(caliper->type));
}

/* Whatever the rules say of the types. */
static void make_all_known(void *unused) {
  (void)unused;
  make_known(&wait_poll);
  for (int kind = 0; kind < IO_KINDS; kind++)
    for (int way = 0; way < IO_WAYS; way++)
      make_known(calipers[kind][way]);
}

static void prepare_emitter(void) {
  ll_on_report(report, NULL); /* a forked child has its parent's */
  /* What the library's first report needs, which takes 10 ms once there are threads. */
  syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
}

static void start_emitter(void) {
  if (io_targets_of_run() != NULL) prepare_emitter();
  if (io_on_own_stack(make_all_known, NULL)) __atomic_store_n(&io_page->state, IO_RUNNING, __ATOMIC_RELEASE);
}

static void begin_life(void) {
  io_page->pid = (uint32_t)getpid();
  io_page->began_ns = monotonic_ns();
}

/* Whether the calipers run from now on. The first one starts the emitter. In a forked child targets are summed up
 * meanwhile. */
__attribute__((noinline, cold)) static bool wake(bool masked_wait) {
  IO_KEEPS_ERRNO;
  bool ready = io_page->state == IO_LOADED;
  if (io_targets_of_run() != NULL) {
    if (io_page->pid == 0) begin_life();
    ready = monotonic_ns() - io_page->began_ns > SHORT_NS;
  } else if (io_page->state == IO_FORKED) {
    if (io_page->pid == 0) begin_life();
    ready = __atomic_load_n(&io_page->calls, __ATOMIC_RELAXED) >= FORKED_CALLS ||
            monotonic_ns() - io_page->began_ns > FORKED_NS;
  }
  ready = ready && io_is_here() && has_our_pid() && may_start_here(masked_wait) && io_library_is_there();
  if (ready) start_emitter();
  return ready;
}

static inline bool is_running_in(bool masked_wait) {
  return __builtin_expect(__atomic_load_n(&io_page->state, __ATOMIC_ACQUIRE) == IO_RUNNING, 1) || wake(masked_wait);
}

static inline bool is_running(void) {
  return is_running_in(false);
}

/* --- one operation --- */

/* There is room for 1,024 threads. The others must not ask again at each operation, under the library's lock. */
static inline bool may_use_caliper(void) {
  static __thread uint32_t refused __attribute__((tls_model("initial-exec"))); /* the interval and 1 */
  if (__builtin_expect(ll_tls_folder != NULL, 1)) return true;
  uint32_t now = io_interval() + 1u;
  if (refused == now) return false;
  refused = now;
  return true;
}

static inline uint64_t tick(void) {
  const ll_folder *folder = ll_tls_folder;
  if (__builtin_expect(folder != NULL && folder->fast, 1)) return LL_CPU_TICK();
  const io_table *table = io_targets_of_run();
  bool before_emitter = table != NULL && __atomic_load_n(&io_page->state, __ATOMIC_RELAXED) != IO_RUNNING;
  return before_emitter && table->monotonic != 0 ? io_table_now() : ll_caliper_tick();
}

/* The emitter decides at its start which clock ticks come from; in a run the agent's has decided. */
uint64_t io_begin_later(void) {
  IO_KEEPS_ERRNO;
  if (ll_tls_folder == NULL && is_running() && may_use_caliper()) ll_caliper_unmark(ll_caliper_begin(wait_poll.type));
  return tick();
}

static void count_unseen_call(void) {
  if (io_targets_of_run() != NULL) return;
  __atomic_fetch_add(&io_page->calls, 1, __ATOMIC_RELAXED);
}

static void count_unseen_bytes(uint64_t nbytes) {
  if (io_targets_of_run() == NULL) __atomic_fetch_add(&io_page->nbytes, nbytes, __ATOMIC_RELAXED);
}

static void begin(io_operation *now, const io_caliper *caliper, bool running) {
  now->operation = (ll_operation){0, NULL};
  now->caliper = caliper;
  now->of_run = NULL;
  now->unseen = !running;
  if (__builtin_expect(!running, 0)) count_unseen_call();
  if (running && may_use_caliper()) {
    now->operation = ll_caliper_begin(caliper->type);
    if (now->operation.began == 0) now->caliper = NULL; /* switched off */
    if (__builtin_expect(now->caliper != NULL && ll_caliper_is_full(caliper->type), 0))
      caliper->start(now->operation.began);
  } else {
    now->operation.began = tick();
    now->caliper = NULL;
    now->of_run = caliper;
  }
}

void io_begin(io_operation *now, int fd, io_way way) {
  IO_KEEPS_ERRNO;
  now->caliper = now->of_run = NULL;
  now->sums = NULL;
  now->fd = fd;
  now->way = way;
  now->waited = now->asked = 0;
  now->may_wait = now->under_way = now->has_room = now->unseen = false;
  bool running = is_running(); /* before the descriptor is classified, since that needs to know the process */
  io_descriptor descriptor = io_descriptor_of(fd);
  const io_caliper *caliper = calipers[descriptor.kind][way];
  now->may_wait = descriptor.kind == IO_NET || descriptor.kind == IO_PIPE;
  if (caliper == NULL) return;
  now->target = descriptor.target;
  begin(now, caliper, running);
  if (now->operation.began == 0) return;
  if (now->may_wait) now->waited = io_waits_before(fd, way);
  now->sums = io_target_begin(&now->target, descriptor.kind, way);
  now->under_way = now->sums != NULL;
}

void io_begin_wait(io_operation *now, bool masked) {
  IO_KEEPS_ERRNO;
  now->caliper = now->of_run = NULL;
  now->sums = NULL;
  now->fd = -1;
  now->operation = (ll_operation){0, NULL};
  bool running = (waits != NULL || masked) && is_running_in(masked);
  if (waits != NULL) begin(now, waits, running);
  if (now->operation.began == 0) now->operation.began = tick();
}

/* Ticks of two processors may differ. */
static uint64_t between(uint64_t began, uint64_t ended) {
  return ended > began ? ended - began : 0;
}

static void add(uint64_t *sum, uint64_t value) {
  __atomic_fetch_add(sum, value, __ATOMIC_RELAXED);
}

static void add_sums(io_sums *sums, uint64_t ticks, uint64_t nbytes) {
  uint64_t longest = __atomic_load_n(&sums->longest, __ATOMIC_RELAXED);
  while (ticks > longest &&
         !__atomic_compare_exchange_n(&sums->longest, &longest, ticks, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  add(&sums->ticks, ticks);
  add(&sums->nbytes, nbytes);
  __atomic_fetch_add(&sums->count, 1, __ATOMIC_RELEASE);
}

static bool would_wait(int error) {
  return error == EAGAIN || error == EINTR || error == EINPROGRESS || error == EALREADY;
}

/* At resolution full: what .start and .end do not say. */
__attribute__((noinline, cold)) static void tell(const io_operation *now, int64_t result, double value) {
  const char *kind, *name;
  int error = errno;
  uint64_t id = now->operation.began;
  now->caliper->end(id, value);
  if (now->fd >= 0 && io_target_introduce(now->target, &kind, &name)) ll_emit(io_name, now->target.slot, kind, name);
  if (now->fd >= 0) ll_emit(io_operation, id, now->fd, now->target.slot, result < 0 ? -(int64_t)error : result);
  errno = error;
}

static void end_caliper(const io_operation *now, uint64_t waited, bool moved, int64_t result, double value) {
  ll_caliper_unmark(now->operation);
  if (moved)
    ll_caliper_end_at(now->caliper->type, (ll_operation){now->operation.began - waited, NULL}, now->ended, value);
  if (__builtin_expect(ll_caliper_is_full(now->caliper->type), 0)) tell(now, result, moved ? value : 0);
}

static io_outcome outcome_of(const io_operation *now, int64_t result) {
  if (now->has_room) return IO_MOVED;
  if (result < 0) return would_wait(errno) ? IO_REFUSED : IO_MOVED;
  return (uint64_t)result < now->asked ? IO_MOVED_PART : IO_MOVED;
}

void io_end(io_operation *now, int64_t result, double value) {
  IO_KEEPS_ERRNO;
  bool moved = result > 0 || (result == 0 && value != 0);
  bool measured = now->caliper != NULL || now->sums != NULL;
  if (moved && measured) now->ended = tick(); /* the clock is the larger part of the cost; event loops fail often */
  if (now->may_wait) io_waits_mark(now->fd, now->way, outcome_of(now, result)); /* the next one may be measured */
  bool counts_bytes = result > 0; /* calls whose result is 0 have a value that is no number of bytes */
  if (__builtin_expect(now->unseen && counts_bytes, 0)) count_unseen_bytes((uint64_t)value);
  if (!measured) return;
  if (now->caliper != NULL) end_caliper(now, now->waited, moved, result, value);
  if (now->sums == NULL) return;
  uint64_t ticks = between(now->operation.began, now->ended) + now->waited;
  if (moved && now->of_run != NULL) io_run_value(now->of_run->number, value, ticks);
  if (moved) add_sums(now->sums, ticks, counts_bytes ? (uint64_t)value : 0);
  if (result < 0) add(would_wait(errno) ? &now->sums->again : &now->sums->errors, 1);
  now->under_way = false;
  io_target_end(now->sums);
}

void io_abandon(io_operation *now) {
  IO_KEEPS_ERRNO;
  if (now->caliper != NULL) ll_caliper_unmark(now->operation);
  io_target_end(now->sums);
}

/* A wait that ends by its timeout is one, too. */
void io_end_wait(io_operation *now, int64_t result) {
  IO_KEEPS_ERRNO;
  now->ended = tick();
  uint64_t ticks = between(now->operation.began, now->ended);
  io_waits_add(ticks);
  if (now->caliper != NULL) end_caliper(now, 0, result >= 0, result, (double)result);
  if (now->of_run != NULL && result >= 0) io_run_value(now->of_run->number, (double)result, ticks);
}

void io_add(io_descriptor descriptor, io_way way, uint64_t began, int64_t bytes) {
  IO_KEEPS_ERRNO;
  if (bytes <= 0) return;
  const io_caliper *caliper = calipers[descriptor.kind][way];
  if (caliper == NULL || began == 0) return;
  uint64_t ended = tick();
  bool running = is_running();
  if (!running) count_unseen_call();
  if (!running) count_unseen_bytes((uint64_t)bytes);
  if (running && may_use_caliper())
    ll_caliper_end_at(caliper->type, (ll_operation){began, NULL}, ended, (double)bytes);
  else
    io_run_value(caliper->number, (double)bytes, between(began, ended));
  io_sums *sums = io_target_sums(descriptor.target, way);
  if (sums != NULL) add_sums(sums, between(began, ended), (uint64_t)bytes);
}

void io_waits_since(int fd, uint64_t began) {
  IO_KEEPS_ERRNO;
  if (io_descriptor_of(fd).kind != IO_UNKNOWN) io_waits_add_for(fd, between(began, tick()));
}

void io_add_target(int fd, io_way way, const io_operation *now, int64_t bytes) {
  IO_KEEPS_ERRNO;
  if (bytes <= 0 || (now->caliper == NULL && now->sums == NULL)) return;
  io_descriptor descriptor = io_descriptor_of(fd);
  if (calipers[descriptor.kind][way] == NULL) return;
  io_sums *sums = io_target_sums(descriptor.target, way);
  if (sums != NULL) add_sums(sums, between(now->operation.began, now->ended), (uint64_t)bytes);
}

/* --- the beginning and the end --- */

static void report(void *unused, double tick_ns) {
  (void)unused;
  io_targets_report(tick_ns);
  __atomic_fetch_add(&interval, 1, __ATOMIC_RELAXED);
  if (io_shared == NULL) return;
  uint64_t children = __atomic_exchange_n(&io_shared->children, 0, __ATOMIC_RELAXED);
  uint64_t operations = __atomic_exchange_n(&io_shared->operations, 0, __ATOMIC_RELAXED);
  uint64_t nbytes = __atomic_exchange_n(&io_shared->nbytes, 0, __ATOMIC_RELAXED);
  if (children > 0 || operations > 0) ll_emit(io_unseen, children, operations, nbytes);
}

static bool wiped_by_kernel;

static void after_fork(void) {
  io_library_after_fork_in_child();
  if (!wiped_by_kernel) memset(io_page, 0, sizeof *io_page);
  io_targets_after_fork();
}

__attribute__((constructor)) static void start(void) {
  IO_KEEPS_ERRNO;
  char why[160];
  io_say_begin();
  if (!io_settings_load(&settings, secure_getenv, why, sizeof why)) io_say(why, "the program is not measured");
  if (settings.on) {
    io_page = mmap(NULL, sizeof *io_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (io_page == MAP_FAILED) io_page = NULL;
    bool ready = io_page != NULL && io_descriptors_create();
    if (ready && !io_targets_attach(&settings)) {
      io_shared = mmap(NULL, sizeof *io_shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
      ready = io_shared != MAP_FAILED && io_targets_create(&settings);
    }
    bool emits = ready && io_targets_of_run() == NULL;
    if (emits && !io_library_load()) return;
    if (ready) {
      choose_calipers();
      wiped_by_kernel = madvise(io_page, sizeof *io_page, MADV_WIPEONFORK) == 0;
      pthread_atfork(io_library_before_fork, io_library_after_fork_in_parent, after_fork);
      begin_life();
      if (emits) prepare_emitter();
      io_page->state = IO_LOADED;
      interval = 1;
      __atomic_store_n(&io_on, 1, __ATOMIC_RELEASE);
    } else {
      io_say("no memory at the start", "the program is not measured");
    }
  }
}

/* A process that ends before it became an emitter. */
static void leave_unseen(void) {
  if (__atomic_load_n(&io_on, __ATOMIC_ACQUIRE) == 0 || io_shared == NULL || io_page->state == IO_RUNNING ||
      io_page->calls == 0)
    return;
  if (!io_is_here() || !has_our_pid()) return;
  uint64_t calls = __atomic_exchange_n(&io_page->calls, 0, __ATOMIC_RELAXED);
  __atomic_fetch_add(&io_shared->children, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&io_shared->operations, calls, __ATOMIC_RELAXED);
  __atomic_fetch_add(&io_shared->nbytes, __atomic_exchange_n(&io_page->nbytes, 0, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
}

/* The run's first process ends: what short processes have done is delivered before, as an emitter's events are. The
 * agent needs the table to be in nobody's use to know that the run has ended, and other threads may still be adding. */
void io_leave_run(void) {
  enum { MOST_MS = 5000, MS_NS = 1000000 };
  IO_KEEPS_ERRNO;
  io_table *table = io_targets_of_run();
  if (table == NULL || __atomic_load_n(&io_on, __ATOMIC_ACQUIRE) == 0 || !io_is_here() || !has_our_pid()) return;
  if (table->first != (uint32_t)getpid()) return;
  int fd = (int)syscall(SYS_openat, AT_FDCWD, settings.page, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return;
  uint32_t asked = __atomic_add_fetch(&table->asked, 1, __ATOMIC_SEQ_CST), answered = 0;
  syscall(SYS_futex, &table->asked, FUTEX_WAKE, 1, NULL, NULL, 0);
  mmap(table, sizeof *table, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  struct timespec moment = {0, MS_NS};
  for (int ms = 0; ms < MOST_MS; ms++) {
    struct stat status;
    ssize_t got = syscall(SYS_pread64, fd, &answered, sizeof answered, offsetof(io_table, answered));
    if (got != sizeof answered || answered >= asked || fstat(fd, &status) != 0 || status.st_nlink == 0) break;
    if (syscall(SYS_flock, fd, LOCK_SH | LOCK_NB) == 0) break; /* the agent has gone */
    syscall(SYS_nanosleep, &moment, NULL);
  }
  char lines[IO_LINES_BYTES];
  ssize_t got = syscall(SYS_pread64, fd, lines, sizeof lines, offsetof(io_table, lines));
  size_t bytes = got > 0 ? strnlen(lines, (size_t)got) : 0;
  if (bytes > 0) io_say_lines(lines, bytes);
  syscall(SYS_close, fd);
}

__attribute__((destructor)) static void end(void) {
  leave_unseen();
  io_last_run();
  io_leave_run();
  __atomic_store_n(&io_on, 0, __ATOMIC_RELEASE);
}

bool io_is_emitting(void) {
  bool on = __atomic_load_n(&io_on, __ATOMIC_ACQUIRE) != 0; /* else even getpid might be forbidden */
  return on && __atomic_load_n(&io_page->state, __ATOMIC_ACQUIRE) == IO_RUNNING && io_is_here() && has_our_pid();
}

/* A shutdown waits seconds for a thread that cannot answer, which the flush finds out first. */
static void deliver(void *unused) {
  (void)unused;
  if (ll_flush(FINISH_MS) == 0) ll_shutdown(FINISH_MS);
}

static void flush(void *unused) {
  (void)unused;
  ll_flush(FINISH_MS);
}

void io_flush(void) {
  IO_KEEPS_ERRNO;
  if (io_is_emitting()) io_on_own_stack(flush, NULL);
}

void io_finish(void) {
  IO_KEEPS_ERRNO;
  if (io_is_emitting())
    io_on_own_stack(deliver, NULL);
  else
    leave_unseen();
}

static void shut_down(void *unused) {
  (void)unused;
  ll_shutdown(FINISH_MS);
}

/* The emitter ends even if its sink does not answer: what is left of it would break the rules that the program sets. */
void io_stop(const char *why) {
  IO_KEEPS_ERRNO;
  if (io_is_emitting()) {
    io_say(why, "it is not measured from now on");
    io_on_own_stack(shut_down, NULL);
  } else {
    leave_unseen();
  }
  __atomic_store_n(&io_on, 0, __ATOMIC_RELEASE);
}
