#include "waits.h"

#include "descriptors.h"

/* A descriptor's word, stored at once since threads may share it: thread, whether its last write was refused, and the
 * thread's waits at its last operation. 47 bits of ticks are half a day: older waits are not counted. */
enum { THREAD_SHIFT = 48, REFUSED_SHIFT = 47 };
#define WAITS_MASK ((UINT64_C(1) << REFUSED_SHIFT) - 1)

#define OF_THREAD static __thread __attribute__((tls_model("initial-exec")))
OF_THREAD uint64_t waited = UINT64_C(1) << 44; /* hours: a descriptor may have a longer wait of its own */
OF_THREAD uint64_t self;                       /* shifted; 0: none yet */

/* A number that another thread got 65,535 threads ago may be found in an old word: a plausible wait at worst. */
__attribute__((noinline, cold)) static void number_thread(void) {
  static uint64_t threads;
  while (self == 0)
    self = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED) << THREAD_SHIFT;
}

void io_waits_add(uint64_t ticks) {
  waited += ticks;
}

void io_waits_add_for(int fd, uint64_t ticks) {
  uint64_t *at = io_descriptor_waits(fd);
  if (at == NULL) return;
  if (self == 0) number_thread();
  uint64_t known = __atomic_load_n(at, __ATOMIC_RELAXED), waits = waited & WAITS_MASK;
  bool own = (known ^ self) >> THREAD_SHIFT == 0;
  if (own && (known & WAITS_MASK) < waits) waits = known & WAITS_MASK;
  uint64_t refused = own ? known >> REFUSED_SHIFT & 1 : 0;
  __atomic_store_n(at, self | refused << REFUSED_SHIFT | (ticks < waits ? waits - ticks : 0), __ATOMIC_RELAXED);
}

uint64_t io_waits_before(int fd, io_way way) {
  const uint64_t *at = io_descriptor_waits(fd);
  if (at == NULL) return 0;
  uint64_t word = __atomic_load_n(at, __ATOMIC_RELAXED), now = waited & WAITS_MASK;
  if (self == 0 || (word ^ self) >> THREAD_SHIFT != 0 || (word & WAITS_MASK) > now) return 0;
  if (way == IO_WRITE && (word >> REFUSED_SHIFT & 1) == 0) return 0;
  return now - (word & WAITS_MASK);
}

void io_waits_mark(int fd, io_way way, io_outcome outcome) {
  uint64_t *at = io_descriptor_waits(fd);
  if (at == NULL) return;
  if (__builtin_expect(self == 0, 0)) number_thread();
  uint64_t known = __atomic_load_n(at, __ATOMIC_RELAXED), waits = waited & WAITS_MASK;
  bool own = (known ^ self) >> THREAD_SHIFT == 0;
  uint64_t refused = way == IO_WRITE ? outcome != IO_MOVED : own && (known >> REFUSED_SHIFT & 1) != 0;
  if (outcome == IO_REFUSED && own) waits = known & WAITS_MASK;
  __atomic_store_n(at, self | refused << REFUSED_SHIFT | waits, __ATOMIC_RELAXED);
}
