#include "schedule.h"

#include "base/clock.h"
#include "base/say.h"

#include <lifeline/events.h>

#include <stddef.h>

sampler *schedule_add(schedule *all, const char *name, sample_function sample, void *ctx, uint64_t period_ns,
                      uint64_t first_ns) {
  if (all->count == SAMPLERS_MAX) return NULL;
  sampler *one = &all->samplers[all->count++];
  *one = (sampler){.name = name, .sample = sample, .ctx = ctx, .period_ns = period_ns, .due_ns = first_ns};
  return one;
}

void schedule_rate(sampler *one, uint64_t period_ns, uint64_t now_ns) {
  if (one->period_ns == period_ns) return;
  if (period_ns > 0 && (one->period_ns == 0 || one->due_ns > now_ns + period_ns)) one->due_ns = now_ns + period_ns;
  one->period_ns = period_ns;
}

static void take(sampler *one, uint64_t now_ns) {
  uint64_t missed = (now_ns - one->due_ns) / one->period_ns, began_ns = ll_now_ns(CLOCK_MONOTONIC);
  one->skipped += missed;
  one->due_ns += (missed + 1) * one->period_ns;
  one->samples++;
  one->failures += !one->sample(one->ctx, now_ns);
  one->busy_ns += ll_now_ns(CLOCK_MONOTONIC) - began_ns;
}

void schedule_run(schedule *all, uint64_t now_ns) {
  for (unsigned i = 0; i < all->count; i++) {
    sampler *one = &all->samplers[i];
    if (one->period_ns > 0 && one->due_ns <= now_ns) take(one, now_ns);
  }
}

uint64_t schedule_next(const schedule *all) {
  uint64_t next_ns = UINT64_MAX;
  for (unsigned i = 0; i < all->count; i++)
    if (all->samplers[i].period_ns > 0 && all->samplers[i].due_ns < next_ns) next_ns = all->samplers[i].due_ns;
  return next_ns;
}

void schedule_report(const schedule *all) {
  for (unsigned i = 0; i < all->count; i++) {
    const sampler *one = &all->samplers[i];
    if (one->samples == 0) continue;
    ll_emit(probe_samples, one->name, one->samples, one->skipped, one->failures, one->busy_ns / 1000);
    if (one->skipped > 0)
      SAY_ONCE("samples of %s came too late and were skipped (%llu so far); event probe.samples counts them", one->name,
               (unsigned long long)one->skipped);
  }
}
