#include "internal.h"

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

static int64_t real_ns(const llb_calibration *c) {
  return (int64_t)(c->monotonic_ns + (uint64_t)c->realtime_offset_ns);
}

/* Nanoseconds per tick in units of 2^-32, or 2^62 if it is out of range. */
static uint64_t slope(const llb_calibration *a, const llb_calibration *b) {
  uint64_t ns = b->step ? b->monotonic_ns - a->monotonic_ns : (uint64_t)real_ns(b) - (uint64_t)real_ns(a);
  uint128 mult = ((uint128)ns << 32) / (b->tick - a->tick);
  return mult >> 62 ? (uint64_t)1 << 62 : (uint64_t)mult;
}

bool llb_check_calibrations(llb_batch *batch, size_t offset, llb_rejection *rejection) {
  const llb_calibration *c = batch->calibrations;
  size_t count = batch->calibration_count;
  if (count == 0) return llb_reject(rejection, LLB_BAD_CALIBRATION, 84, "There is no calibration.");
  if (batch->tick_hz == 0 || batch->tick_hz > 100000000000)
    return llb_reject(rejection, LLB_BAD_CALIBRATION, 48, "tick_hz is not between 1 and 10^11.");
  if (c[0].step) return llb_reject(rejection, LLB_BAD_CALIBRATION, offset, "The first calibration carries STEP.");
  uint64_t *mult = llb_batch_alloc(batch, count * sizeof *mult);
  if (!mult) return llb_reject(rejection, LLB_NO_MEMORY, 0, "Out of memory.");
  mult[0] = ((uint64_t)1000000000 << 32) / batch->tick_hz;
  for (size_t i = 0; i < count; i++, offset += CALIBRATION_BYTES) {
    int128 real = (int128)c[i].monotonic_ns + c[i].realtime_offset_ns;
    if (real < INT64_MIN || real > INT64_MAX)
      return llb_reject(rejection, LLB_BAD_CALIBRATION, offset, "Calibration %zu: the real time overflows.", i);
    if (i == 0) continue;
    if (c[i].tick <= c[i - 1].tick)
      return llb_reject(rejection, LLB_BAD_CALIBRATION, offset, "Calibration %zu: the tick does not increase.", i);
    if (c[i].monotonic_ns < c[i - 1].monotonic_ns)
      return llb_reject(rejection, LLB_BAD_CALIBRATION, offset, "Calibration %zu: monotonic time runs backwards.", i);
    if (!c[i].step && real < real_ns(&c[i - 1]))
      return llb_reject(rejection, LLB_BAD_CALIBRATION, offset,
                        "Calibration %zu: real time runs backwards without STEP.", i);
    mult[i - 1] = slope(&c[i - 1], &c[i]);
    if (mult[i - 1] >> 62)
      return llb_reject(rejection, LLB_BAD_CALIBRATION, offset, "Calibration %zu: a tick lasts too long.", i);
  }
  batch->priv->mult = mult;
  return true;
}

uint64_t llb_full_tick(uint64_t base_tick, uint64_t tick48) {
  uint64_t distance = (tick48 - base_tick) & (((uint64_t)1 << 48) - 1);
  if (distance >> 47) distance -= (uint64_t)1 << 48;
  return base_tick + distance;
}

int64_t llb_time_ns(const llb_batch *batch, uint64_t tick) {
  const llb_calibration *c = batch->calibrations;
  size_t low = 0, high = batch->calibration_count; /* the last one with c.tick <= tick is in [low, high), or is 0 */
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (c[middle].tick <= tick)
      low = middle;
    else
      high = middle;
  }
  bool behind_last = low > 0 && low == (size_t)batch->calibration_count - 1;
  uint64_t mult = batch->priv->mult[behind_last ? low - 1 : low];
  int128 product = (int128)(int64_t)(tick - c[low].tick) * (int128)mult;
  return (int64_t)((uint64_t)real_ns(&c[low]) + (uint64_t)(product >> 32)); /* an arithmetic shift: floor */
}
