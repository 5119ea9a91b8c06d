#include "values.h"

#include <string.h>

static uint64_t bits_of(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static double double_of(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static void add_double(uint64_t *sum, double value) {
  uint64_t before = __atomic_load_n(sum, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(sum, &before, bits_of(double_of(before) + value), true, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED)) {
  }
}

static void raise(uint64_t *most, uint64_t value) {
  uint64_t before = __atomic_load_n(most, __ATOMIC_RELAXED);
  while (value > before &&
         !__atomic_compare_exchange_n(most, &before, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

static void add_rest(io_powers *powers, double value) {
  add_double(&powers->squares, value * value);
  raise(&powers->greatest, bits_of(value));
  raise(&powers->least, ~bits_of(value));
}

static void add_whole(io_powers *powers, uint64_t value) {
  __atomic_fetch_add(&powers->sum, value, __ATOMIC_RELAXED);
  add_rest(powers, (double)value);
}

void io_values_add(io_values *values, double value, uint64_t ticks) {
  add_whole(&values->value, (uint64_t)value);
  if (ticks > 0) {
    double rate = value / (double)ticks;
    add_whole(&values->ticks, ticks);
    add_double(&values->rate.sum, rate);
    add_rest(&values->rate, rate);
    __atomic_fetch_add(&values->timed, 1, __ATOMIC_RELEASE);
  }
  __atomic_fetch_add(&values->count, 1, __ATOMIC_RELEASE);
}

static uint64_t take(uint64_t *counter) {
  return __atomic_load_n(counter, __ATOMIC_RELAXED) != 0 ? __atomic_exchange_n(counter, 0, __ATOMIC_ACQ_REL) : 0;
}

static void take_powers(io_powers *from, io_powers *taken, bool whole) {
  uint64_t sum = take(&from->sum);
  taken->sum = whole ? taken->sum + sum : bits_of(double_of(taken->sum) + double_of(sum));
  taken->squares = bits_of(double_of(taken->squares) + double_of(take(&from->squares)));
  raise(&taken->greatest, take(&from->greatest));
  raise(&taken->least, take(&from->least));
}

void io_values_take(io_values shards[IO_SHARDS], io_values *taken) {
  for (int i = 0; i < IO_SHARDS; i++) {
    taken->count += take(&shards[i].count);
    taken->timed += take(&shards[i].timed);
    taken->threads += take(&shards[i].threads);
    take_powers(&shards[i].value, &taken->value, true);
    take_powers(&shards[i].ticks, &taken->ticks, true);
    take_powers(&shards[i].rate, &taken->rate, false);
  }
}
