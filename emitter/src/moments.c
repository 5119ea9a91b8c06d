#include "moments.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { LANES = 4 }; /* sums side by side: one alone would wait for itself at each step */

typedef struct pair {
  double high, low;
} pair;

/* a + b without error (Knuth): high is what a double holds of it, low the rest. */
static inline pair sum_of(double a, double b) {
  double high = a + b;
  double b_there = high - a;
  return (pair){high, (a - (high - b_there)) + (b - b_there)};
}

/* a * b without error (Dekker and Veltkamp), where nothing overflows. */
static pair product_of(double a, double b) {
  static const double splitter = 134217729; /* 2^27 + 1 */
  double a_high = splitter * a - (splitter * a - a), a_low = a - a_high;
  double b_high = splitter * b - (splitter * b - b), b_low = b - b_high;
  double high = a * b;
  return (pair){high, a_low * b_low - (((high - a_high * b_high) - a_low * b_high) - a_high * b_low)};
}

/* A sum out of range stays there, and says so by its sign alone. */
static pair in_range(pair sum) {
  if (isnan(sum.high)) sum.high = INFINITY;
  if (!isfinite(sum.high) || !isfinite(sum.low)) sum.low = 0;
  return sum;
}

static pair add_pairs(pair a, pair b) {
  pair high = sum_of(a.high, b.high);
  return in_range(sum_of(high.high, high.low + (a.low + b.low)));
}

static pair divide(pair a, double by) {
  double quotient = a.high / by;
  pair back = product_of(quotient, by);
  double rest = ((a.high - back.high) - back.low) + a.low;
  return isfinite(rest) ? sum_of(quotient, rest / by) : in_range((pair){quotient, 0});
}

static pair sum_in(const ll_moments *moments) {
  return (pair){moments->sum, moments->sum_low};
}

static pair mean_of(const ll_moments *moments) {
  return divide(sum_in(moments), (double)moments->count);
}

void ll_moments_merge(ll_moments *into, const ll_moments *other) {
  into->not_finite += other->not_finite;
  if (other->count == 0) return;
  if (into->count == 0) {
    uint64_t not_finite = into->not_finite;
    *into = *other;
    into->not_finite = not_finite;
    return;
  }
  double n = (double)into->count, m = (double)other->count;
  pair mean = mean_of(into), other_mean = mean_of(other);
  double apart = (other_mean.high - mean.high) + (other_mean.low - mean.low);
  double between = apart == 0 ? 0 : apart * apart * (n / (n + m)) * m;
  pair squares = add_pairs((pair){into->squares, into->squares_low}, (pair){other->squares, other->squares_low});
  squares = add_pairs(squares, (pair){isnan(between) ? INFINITY : between, 0});
  pair sum = add_pairs(sum_in(into), sum_in(other));
  into->squares = squares.high, into->squares_low = squares.low;
  into->sum = sum.high, into->sum_low = sum.low;
  into->count += other->count;
  if (other->min < into->min) into->min = other->min;
  if (other->max > into->max) into->max = other->max;
}

/* --- doubles --- */

/* The second pass. `near` is a double close to the mean: what is left of the distances' own sum corrects it. */
static double squares_around(double near, const double *values, unsigned count) {
  double left[LANES] = {0}, square[LANES] = {0};
  unsigned i = 0;
  for (; i + LANES <= count; i += LANES)
    for (unsigned lane = 0; lane < LANES; lane++) {
      double apart = values[i + lane] - near;
      left[lane] += apart;
      square[lane] += apart * apart;
    }
  for (; i < count; i++) {
    left[0] += values[i] - near;
    square[0] += (values[i] - near) * (values[i] - near);
  }
  double all_left = (left[0] + left[1]) + (left[2] + left[3]);
  double squares = ((square[0] + square[1]) + (square[2] + square[3])) - all_left * all_left / count;
  return isnan(squares) ? INFINITY : squares > 0 ? squares : 0;
}

/* False: some value is not finite, or their sum is not; nothing was added. */
static bool add_finite(ll_moments *moments, const double *values, unsigned count) {
  double high[LANES] = {0}, low[LANES] = {0}, min[LANES], max[LANES];
  for (unsigned lane = 0; lane < LANES; lane++)
    min[lane] = max[lane] = values[0];
  unsigned i = 0;
  for (; i + LANES <= count; i += LANES)
    for (unsigned lane = 0; lane < LANES; lane++) {
      double value = values[i + lane];
      double sum = high[lane] + value;
      double there = sum - high[lane];
      low[lane] += (high[lane] - (sum - there)) + (value - there);
      high[lane] = sum;
      min[lane] = value < min[lane] ? value : min[lane];
      max[lane] = value > max[lane] ? value : max[lane];
    }
  pair sum = {0, 0};
  for (; i < count; i++) {
    sum = add_pairs(sum, (pair){values[i], 0});
    min[0] = values[i] < min[0] ? values[i] : min[0];
    max[0] = values[i] > max[0] ? values[i] : max[0];
  }
  for (unsigned lane = 0; lane < LANES; lane++)
    sum = add_pairs(sum, (pair){high[lane], low[lane]});
  if (!isfinite(sum.high)) return false;

  ll_moments block = {.count = count, .min = min[0], .max = max[0], .sum = sum.high, .sum_low = sum.low};
  for (unsigned lane = 1; lane < LANES; lane++) {
    if (min[lane] < block.min) block.min = min[lane];
    if (max[lane] > block.max) block.max = max[lane];
  }
  block.squares = squares_around(mean_of(&block).high, values, count);
  ll_moments_merge(moments, &block);
  return true;
}

/* One by one, for a block in which something is out of the ordinary. */
static void add_with_care(ll_moments *moments, const double *values, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    if (!isfinite(values[i])) {
      moments->not_finite++;
      continue;
    }
    ll_moments one = {.count = 1, .min = values[i], .max = values[i], .sum = values[i]};
    ll_moments_merge(moments, &one);
  }
}

void ll_moments_add(ll_moments *moments, const double *values, unsigned count) {
  if (count > 0 && !add_finite(moments, values, count)) add_with_care(moments, values, count);
}

/* --- integers of 64 bits: a double holds 53 of them, so they are told apart before they are turned into one --- */

/* All doubles of a sum that 71 bits hold. */
static pair pair_of(__int128 integer) {
  double high = (double)(int64_t)(integer >> 32) * 4294967296.0; /* at most 39 bits, then 32: both exact */
  return sum_of(high, (double)(uint32_t)integer);
}

static double between_signed(uint64_t a, uint64_t b) {
  return (int64_t)a >= (int64_t)b ? (double)(a - b) : -(double)(b - a);
}

static double between_unsigned(uint64_t a, uint64_t b) {
  return a >= b ? (double)(a - b) : -(double)(b - a);
}

/* Two passes again: the sum, then the distances from its mean as integers. */
static void add_integers(ll_moments *moments, const uint64_t *bits, unsigned count, bool is_signed) {
  if (count == 0) return;
  __int128 sum = 0;
  uint64_t least = bits[0], most = bits[0];
  for (unsigned i = 0; i < count; i++) {
    sum += is_signed ? (__int128)(int64_t)bits[i] : (__int128)bits[i];
    if (is_signed ? (int64_t)bits[i] < (int64_t)least : bits[i] < least) least = bits[i];
    if (is_signed ? (int64_t)bits[i] > (int64_t)most : bits[i] > most) most = bits[i];
  }
  /* In 64 bits where that will do, which is nearly always: a division of 128 is a call. */
  uint64_t near = sum == (int64_t)sum ? (uint64_t)((int64_t)sum / (int64_t)count) : (uint64_t)(sum / (__int128)count);
  double left = 0, square = 0;
  for (unsigned i = 0; i < count; i++) {
    double apart = is_signed ? between_signed(bits[i], near) : between_unsigned(bits[i], near);
    left += apart;
    square += apart * apart;
  }
  double squares = square - left * left / count;
  pair total = pair_of(sum);
  ll_moments block = {.count = count,
                      .min = is_signed ? (double)(int64_t)least : (double)least,
                      .max = is_signed ? (double)(int64_t)most : (double)most,
                      .sum = total.high,
                      .sum_low = total.low,
                      .squares = squares > 0 ? squares : 0};
  ll_moments_merge(moments, &block);
}

void ll_moments_add_i64(ll_moments *moments, const uint64_t *bits, unsigned count) {
  add_integers(moments, bits, count, true);
}

void ll_moments_add_u64(ll_moments *moments, const uint64_t *bits, unsigned count) {
  add_integers(moments, bits, count, false);
}

/* --- what is told of them --- */

void ll_moments_scale(ll_moments *moments, double factor) {
  moments->min *= factor, moments->max *= factor;
  moments->sum *= factor, moments->sum_low *= factor;
  moments->squares *= factor * factor, moments->squares_low *= factor * factor;
}

double ll_moments_mean(const ll_moments *moments) {
  return moments->count > 0 ? mean_of(moments).high : 0;
}

double ll_moments_variance(const ll_moments *moments) {
  if (moments->count < 2) return 0;
  double squares = moments->squares + moments->squares_low;
  return squares > 0 ? squares / (double)(moments->count - 1) : 0;
}
