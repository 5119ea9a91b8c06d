#include "clock.h"

#include "low.h"

#include <fcntl.h>
#include <lifeline/lifeline.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum {
  CALIBRATION_SPACING_NS = 10000000,
  CALIBRATION_TRIES = 5,
  STEP_FLOOR_NS = 100000, /* smaller clock changes count as slewing; the resulting time error is at most this */
  JUMP_FLOOR_NS = 1000000,
};

uint64_t ll_monotonic_ns(void) {
  return ll_now_ns(CLOCK_MONOTONIC_RAW);
}

bool ll_clock_is_listed(const char *names, const char *name) {
  size_t length = strlen(name);
  for (const char *at = strstr(names, name); at != NULL; at = strstr(at + length, name))
    if ((at == names || at[-1] == ' ') && strchr(" \n", at[length]) != NULL)
      return true; /* strchr finds the end, too */
  return false;
}

#if defined(__x86_64__)
/* The kernel compares the counter with other clocks, and takes it from its list when it finds it unstable or differing
 * between processors, whatever CPUID says. (Which of the list is current does not matter: in a virtual machine it is
 * the hypervisor's.) Without the list: true. */
static bool kernel_trusts_tsc(void) {
  char names[256];
  int fd = ll_open("/sys/devices/system/clocksource/clocksource0/available_clocksource", O_RDONLY | O_CLOEXEC);
  ssize_t bytes = fd >= 0 ? read(fd, names, sizeof names - 1) : -1;
  if (fd >= 0) close(fd);
  if (bytes <= 0) return true;
  names[bytes] = '\0';
  return ll_clock_is_listed(names, "tsc");
}
#endif

bool ll_cpu_clock_usable(void) {
#if defined(__x86_64__)
  unsigned a, b, c, d;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0 && kernel_trusts_tsc();
#elif defined(__aarch64__)
  return true;
#else
  return false;
#endif
}

uint64_t ll_clock_tick(ll_clock_kind kind) {
#if defined(__x86_64__)
  if (kind == LL_CLOCK_CPU) return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t tick;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(tick));
  if (kind == LL_CLOCK_CPU) return tick;
#endif
  return ll_monotonic_ns();
}

/* Reads both clocks between two ticks. Of a few tries the tightest wins; its half width is the error. */
static ll_calibration read_instant(ll_clock_kind kind) {
  ll_calibration best = {0};
  uint64_t best_width = UINT64_MAX;
  for (int i = 0; i < CALIBRATION_TRIES; i++) {
    uint64_t monotonic = ll_now_ns(CLOCK_MONOTONIC_RAW);
    uint64_t tick = ll_clock_tick(kind);
    uint64_t realtime = ll_now_ns(CLOCK_REALTIME);
    uint64_t width = ll_now_ns(CLOCK_MONOTONIC_RAW) - monotonic;
    if (width >= best_width) continue;
    best_width = width;
    uint64_t middle = monotonic + width / 2;
    best.tick = tick;
    best.monotonic_ns = kind == LL_CLOCK_MONOTONIC ? tick : middle;
    best.realtime_offset_ns = (int64_t)(realtime - best.monotonic_ns);
  }
  best.error_ns = best_width / 2 < UINT32_MAX ? (uint32_t)(best_width / 2 + 1) : UINT32_MAX;
  return best;
}

/* Upper bound on the drift in this time of a clock disciplined by NTP (at most 500 ppm in each direction). */
static uint64_t drift_ns(uint64_t elapsed_ns) {
  return elapsed_ns / 1000;
}

/* Whether this calibration is off the line through the first and the latest calibration. */
static bool jumped(const ll_calibrations *known, const ll_calibration *now) {
  if (known->count < 2) return false;
  const ll_calibration *a = &known->at[0], *b = &known->at[known->count - 1];
  double rate = (double)(b->monotonic_ns - a->monotonic_ns) / (double)(b->tick - a->tick);
  double expected = (double)(now->tick - b->tick) * rate;
  double elapsed = (double)(now->monotonic_ns - b->monotonic_ns);
  double span = (double)(b->monotonic_ns - a->monotonic_ns);
  /* A rate measured over a short span is only as precise as the reading errors over that span. */
  double rate_error = span > 0 ? elapsed * (a->error_ns + b->error_ns) / span : elapsed;
  double allowed = JUMP_FLOOR_NS + (double)drift_ns((uint64_t)elapsed) + rate_error;
  return expected - elapsed > allowed || elapsed - expected > allowed;
}

static void thin_out(ll_calibrations *calibrations) {
  uint32_t kept = 1;
  for (uint32_t i = 1; i + 1 < calibrations->count; i++)
    if (i % 2 == 0 || (calibrations->at[i].flags & LL_CALIBRATION_STEP) != 0)
      calibrations->at[kept++] = calibrations->at[i];
  calibrations->at[kept++] = calibrations->at[calibrations->count - 1];
  if (kept == LL_CALIBRATIONS_MAX) { /* only steps: drop the oldest */
    memmove(&calibrations->at[0], &calibrations->at[1], (kept - 1) * sizeof calibrations->at[0]);
    calibrations->at[0].flags = 0;
    kept--;
  }
  calibrations->count = kept;
}

void ll_calibrate(ll_calibrations *calibrations, ll_clock_kind kind) {
  ll_calibration now = read_instant(kind);
  if (calibrations->count > 0) {
    const ll_calibration *last = &calibrations->at[calibrations->count - 1];
    if (now.tick == last->tick) return;
    uint64_t elapsed = now.monotonic_ns - last->monotonic_ns;
    bool backwards = now.tick < last->tick || now.monotonic_ns < last->monotonic_ns;
    if (backwards || jumped(calibrations, &now)) {
      /* Live migration, or a restored snapshot. Earlier calibrations no longer apply; the error is the possible time
       * offset of events since the last calibration. */
      calibrations->uncertain = 1;
      now.error_ns = !backwards && elapsed < UINT32_MAX ? (uint32_t)elapsed : UINT32_MAX;
      calibrations->count = 0;
    } else {
      int64_t moved = now.realtime_offset_ns - last->realtime_offset_ns;
      uint64_t distance = (uint64_t)llabs(moved);
      bool stepped = distance > STEP_FLOOR_NS + drift_ns(elapsed) + now.error_ns + last->error_ns;
      bool before =
          now.monotonic_ns + (uint64_t)now.realtime_offset_ns < last->monotonic_ns + (uint64_t)last->realtime_offset_ns;
      if (stepped || before) now.flags |= LL_CALIBRATION_STEP;
    }
  }
  if (calibrations->count == LL_CALIBRATIONS_MAX) thin_out(calibrations);
  calibrations->at[calibrations->count++] = now;
}

bool ll_calibration_due(const ll_calibrations *calibrations) {
  if (calibrations->count < 2) return true;
  return ll_monotonic_ns() - calibrations->at[calibrations->count - 1].monotonic_ns >= CALIBRATION_SPACING_NS;
}

uint32_t ll_calibrations_from(const ll_calibrations *calibrations, uint64_t tick) {
  uint32_t first = calibrations->count > 2 ? calibrations->count - 2 : 0;
  while (first > 0 && (int64_t)(tick - calibrations->at[first].tick) < 0)
    first--;
  return first;
}

uint64_t ll_tick_hz(const ll_calibrations *calibrations, ll_clock_kind kind) {
  if (kind == LL_CLOCK_MONOTONIC || calibrations->count < 2) return 1000000000u;
  const ll_calibration *a = &calibrations->at[0], *b = &calibrations->at[calibrations->count - 1];
  uint64_t elapsed = b->monotonic_ns - a->monotonic_ns;
  if (elapsed == 0) return 1000000000u;
  double hz = (double)(b->tick - a->tick) * 1e9 / (double)elapsed;
  return hz < 1 ? 1 : hz > 1e11 ? 100000000000u : (uint64_t)hz;
}
