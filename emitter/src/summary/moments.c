#include "moments.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Number of parallel sums: each step of a single one would wait for the previous. */
enum { LANES = 4 };

typedef struct pair {
  double high, low;
} pair;

/* Exact a + b (Knuth): high is the rounded sum, low the rest. */
static inline pair sum_of(double a, double b) {
  double high = a + b;
  double b_there = high - a;
  return (pair){high, (a - (high - b_there)) + (b - b_there)};
}

/* Exact a * b (Dekker and Veltkamp), unless something overflows. */
static pair product_of(double a, double b) {
  static const double splitter = 134217729; /* 2^27 + 1 */
  double a_high = splitter * a - (splitter * a - a), a_low = a - a_high;
  double b_high = splitter * b - (splitter * b - b), b_low = b - b_high;
  double high = a * b;
  return (pair){high, a_low * b_low - (((high - a_high * b_high) - a_low * b_high) - a_high * b_low)};
}

/* A sum that overflowed stays infinite, with its sign. */
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

/* Merges two moments without values around a pivot. */
static void merge_settled(ll_moments *into, const ll_moments *other) {
  if (other->count == 0) return;
  if (into->count == 0) {
    into->sum = other->sum, into->sum_low = other->sum_low;
    into->squares = other->squares, into->squares_low = other->squares_low;
    into->count = other->count;
    into->min = other->min, into->max = other->max;
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

/* Merges the values around the pivot into the other sums. */
static void settle(ll_moments *moments) {
  uint64_t near_count = moments->near_count;
  if (near_count == 0) return;
  double n = (double)near_count;
  pair left = {moments->near_sum, moments->near_sum_low};
  pair sum = add_pairs(product_of(moments->pivot, n), left);
  pair square = product_of(left.high, left.high / n); /* correction for the distance between pivot and mean */
  square.low += 2 * left.low * (left.high / n);
  pair squares = add_pairs((pair){moments->near_squares, moments->near_squares_low}, (pair){-square.high, -square.low});
  ll_moments around = {.count = near_count,
                       .min = moments->min,
                       .max = moments->max,
                       .sum = sum.high,
                       .sum_low = sum.low,
                       .squares = squares.high > 0 ? squares.high : 0,
                       .squares_low = squares.high > 0 ? squares.low : 0};
  moments->count -= near_count;
  moments->near_count = 0;
  moments->near_sum = moments->near_sum_low = moments->near_squares = moments->near_squares_low = 0;
  merge_settled(moments, &around);
}

static ll_moments settled(const ll_moments *moments) {
  ll_moments copy = *moments;
  settle(&copy);
  return copy;
}

void ll_moments_merge(ll_moments *into, const ll_moments *other) {
  ll_moments more = settled(other);
  settle(into);
  merge_settled(into, &more);
  into->not_finite += other->not_finite;
}

/* --- doubles, two passes --- */

/* The second pass. `near` is a double close to the mean: the remaining sum of the distances corrects for the
 * difference. */
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

/* False: a value or the sum is not finite; nothing was added. */
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
  double mean = mean_of(&block).high;
  block.squares = squares_around(mean, values, count);
  settle(moments);
  merge_settled(moments, &block);
  moments->pivot = mean;
  return true;
}

/* Adds values one by one, for a block with exceptional values. */
static void add_with_care(ll_moments *moments, const double *values, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    if (!isfinite(values[i])) {
      moments->not_finite++;
      continue;
    }
    ll_moments one = {.count = 1, .min = values[i], .max = values[i], .sum = values[i]};
    settle(moments);
    merge_settled(moments, &one);
  }
}

/* --- doubles around the pivot --- */

typedef double lanes __attribute__((vector_size(2 * sizeof(double))));

static inline lanes least_of(lanes a, lanes b) {
#if defined(__SSE2__)
  return __builtin_ia32_minpd(a, b);
#else
  return (lanes){a[0] < b[0] ? a[0] : b[0], a[1] < b[1] ? a[1] : b[1]};
#endif
}

static inline lanes most_of(lanes a, lanes b) {
#if defined(__SSE2__)
  return __builtin_ia32_maxpd(a, b);
#else
  return (lanes){a[0] > b[0] ? a[0] : b[0], a[1] > b[1] ? a[1] : b[1]};
#endif
}

typedef struct around {
  double left;    /* sum of the distances from the pivot */
  double squares; /* and of their squares */
  double min, max;
} around;

/* `count` is a multiple of LANES. */
static inline around sum_around(double pivot_value, const double *values, unsigned count) {
  lanes pivot = {pivot_value, pivot_value}, a, b;
  lanes left_a = {0, 0}, left_b = {0, 0}, squares_a = {0, 0}, squares_b = {0, 0};
  lanes min, max;
  memcpy(&min, values, sizeof min);
  max = min;
  for (unsigned i = 0; i < count; i += LANES) {
    memcpy(&a, values + i, sizeof a);
    memcpy(&b, values + i + 2, sizeof b);
    min = least_of(least_of(a, b), min);
    max = most_of(most_of(a, b), max);
    a -= pivot;
    b -= pivot;
    left_a += a;
    left_b += b;
    squares_a += a * a;
    squares_b += b * b;
  }
  left_a += left_b;
  squares_a += squares_b;
  return (around){left_a[0] + left_a[1], squares_a[0] + squares_a[1], min[0] < min[1] ? min[0] : min[1],
                  max[0] > max[1] ? max[0] : max[1]};
}

/* How many times larger the squares may be than those around the mean, and the sum of the distances than that of the
 * values: three digits of sixteen. */
#define LOSS_MAX 1e3

/* False: too much precision would be lost, or something is not finite. */
static inline bool may_take(const ll_moments *moments, const around *block, unsigned count) {
  double n = count, sum = moments->pivot * n + block->left;
  bool keeps_variance = block->squares * n * (1 - 1 / LOSS_MAX) >= block->left * block->left;
  bool keeps_sum = block->squares * n <= sum * sum * (LOSS_MAX * LOSS_MAX);
  return keeps_variance && keeps_sum && block->squares < 1e290 && moments->count != 0;
}

static inline void take(ll_moments *moments, const around *block, unsigned count) {
  pair left = sum_of(moments->near_sum, block->left);
  pair squares = sum_of(moments->near_squares, block->squares);
  moments->near_sum = left.high, moments->near_sum_low += left.low;
  moments->near_squares = squares.high, moments->near_squares_low += squares.low;
  moments->near_count += count;
  moments->count += count;
  if (block->min < moments->min) moments->min = block->min;
  if (block->max > moments->max) moments->max = block->max;
}

/* False: nothing was added. */
static inline bool add_around(ll_moments *moments, const double *values, unsigned count) {
  if (count % LANES != 0 || count == 0) return false;
  around block = sum_around(moments->pivot, values, count);
  if (!may_take(moments, &block, count)) return false;
  take(moments, &block, count);
  return true;
}

void ll_moments_add(ll_moments *moments, const double *values, unsigned count) {
  if (count == 0 || add_around(moments, values, count)) return;
  if (!add_finite(moments, values, count)) add_with_care(moments, values, count);
}

/* --- 64-bit integers: a double holds 53 bits, so differences are computed before the conversion --- */

/* Converts a sum of at most 71 bits exactly. */
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

/* Two passes: the sum, then the distances from its mean as integers. */
static void add_integers(ll_moments *moments, const uint64_t *bits, unsigned count, bool is_signed) {
  if (count == 0) return;
  __int128 sum = 0;
  uint64_t least = bits[0], most = bits[0];
  for (unsigned i = 0; i < count; i++) {
    sum += is_signed ? (__int128)(int64_t)bits[i] : (__int128)bits[i];
    if (is_signed ? (int64_t)bits[i] < (int64_t)least : bits[i] < least) least = bits[i];
    if (is_signed ? (int64_t)bits[i] > (int64_t)most : bits[i] > most) most = bits[i];
  }
  /* In 64 bits if possible, which is nearly always: a 128-bit division is a function call. */
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
  settle(moments);
  merge_settled(moments, &block);
  moments->pivot = mean_of(&block).high;
}

/* Converts integers of less than 51 bits to doubles: they become the mantissa of 1.5 * 2^52, which is then subtracted.
 * False: some are larger. */
static bool are_small(const uint64_t *bits, unsigned count, double *values) {
  static const uint64_t magic = UINT64_C(0x4338000000000000);
  uint64_t outside = 0;
  for (unsigned i = 0; i < count; i++) {
    uint64_t digits = bits[i] + magic;
    outside |= (bits[i] + ((uint64_t)1 << 51)) >> 52;
    memcpy(&values[i], &digits, sizeof digits);
    values[i] -= 6755399441055744.0;
  }
  return outside == 0;
}

void ll_moments_add_i64(ll_moments *moments, const uint64_t *bits, unsigned count) {
  double values[LL_MOMENTS_BLOCK_MAX];
  if (are_small(bits, count, values))
    ll_moments_add(moments, values, count);
  else
    add_integers(moments, bits, count, true);
}

void ll_moments_add_u64(ll_moments *moments, const uint64_t *bits, unsigned count) {
  double values[LL_MOMENTS_BLOCK_MAX];
  uint64_t negative = 0;
  for (unsigned i = 0; i < count; i++)
    negative |= bits[i] >> 63;
  if (negative == 0 && are_small(bits, count, values))
    ll_moments_add(moments, values, count);
  else
    add_integers(moments, bits, count, false);
}

/* --- operations: a value, and its duration --- */

enum { ALL_THREE = 7 };

#if defined(__x86_64__)

/* One of three sums over the same rows. */
typedef struct wide_sum {
  __m256d pivot, left, squares, min, max;
} wide_sum;

#define WIDE static inline __attribute__((target("avx2"), always_inline))

WIDE wide_sum wide_begin(double pivot, __m256d first) {
  return (wide_sum){_mm256_set1_pd(pivot), _mm256_setzero_pd(), _mm256_setzero_pd(), first, first};
}

WIDE void wide_add(wide_sum *sum, __m256d values) {
  __m256d apart = _mm256_sub_pd(values, sum->pivot);
  sum->left = _mm256_add_pd(sum->left, apart);
  sum->squares = _mm256_add_pd(sum->squares, _mm256_mul_pd(apart, apart));
  sum->min = _mm256_min_pd(values, sum->min);
  sum->max = _mm256_max_pd(values, sum->max);
}

WIDE around wide_end(const wide_sum *sum) {
  lanes left = _mm256_castpd256_pd128(sum->left) + _mm256_extractf128_pd(sum->left, 1);
  lanes squares = _mm256_castpd256_pd128(sum->squares) + _mm256_extractf128_pd(sum->squares, 1);
  lanes min = least_of(_mm256_castpd256_pd128(sum->min), _mm256_extractf128_pd(sum->min, 1));
  lanes max = most_of(_mm256_castpd256_pd128(sum->max), _mm256_extractf128_pd(sum->max, 1));
  return (around){left[0] + left[1], squares[0] + squares[1], min[0] < min[1] ? min[0] : min[1],
                  max[0] > max[1] ? max[0] : max[1]};
}

/* Loads four rows of values, and of times converted to doubles: integers below 2^52 become the mantissa. */
WIDE void wide_rows(const uint64_t *rows, __m256d *values, __m256d *times, __m256i *outside) {
  const __m256i magic = _mm256_set1_epi64x(0x4330000000000000);
  __m256i a = _mm256_loadu_si256((const __m256i *)rows), b = _mm256_loadu_si256((const __m256i *)(rows + 4));
  __m256i ticks = _mm256_unpackhi_epi64(a, b);
  *outside = _mm256_or_si256(*outside, _mm256_srli_epi64(ticks, 52));
  *values = _mm256_castsi256_pd(_mm256_unpacklo_epi64(a, b));
  *times = _mm256_sub_pd(_mm256_castsi256_pd(_mm256_or_si256(ticks, magic)), _mm256_castsi256_pd(magic));
}

/* Adds to all three at once. Returns a bit for each to which nothing was added. */
__attribute__((target("avx2"))) static unsigned add_operations_wide(ll_moments moments[3], const uint64_t *rows,
                                                                    unsigned count) {
  if (count % 4 != 0 || count == 0) return ALL_THREE;
  __m256d value, time;
  __m256i outside = _mm256_setzero_si256();
  wide_rows(rows, &value, &time, &outside);
  wide_sum values = wide_begin(moments[0].pivot, value), times = wide_begin(moments[1].pivot, time);
  wide_sum rates = wide_begin(moments[2].pivot, _mm256_div_pd(value, time));
  for (unsigned i = 0; i < count; i += 4) {
    wide_rows(rows + 2 * (size_t)i, &value, &time, &outside);
    wide_add(&values, value);
    wide_add(&times, time);
    wide_add(&rates, _mm256_div_pd(value, time));
  }
  around blocks[3] = {wide_end(&values), wide_end(&times), wide_end(&rates)};
  if (!_mm256_testz_si256(outside, outside) || !(blocks[1].min > 0)) return ALL_THREE;
  unsigned left = 0;
  for (unsigned i = 0; i < 3; i++)
    if (may_take(&moments[i], &blocks[i], count))
      take(&moments[i], &blocks[i], count);
    else
      left |= 1u << i;
  return left;
}

static unsigned add_operations_at_once(ll_moments moments[3], const uint64_t *rows, unsigned count) {
  return __builtin_cpu_supports("avx2") ? add_operations_wide(moments, rows, count) : ALL_THREE;
}

#else

static unsigned add_operations_at_once(ll_moments moments[3], const uint64_t *rows, unsigned count) {
  (void)moments, (void)rows, (void)count;
  return ALL_THREE;
}

#endif

void ll_moments_add_operations(ll_moments moments[3], const uint64_t *rows, unsigned count) {
  double values[LL_MOMENTS_BLOCK_MAX / 2], times[LL_MOMENTS_BLOCK_MAX / 2], rates[LL_MOMENTS_BLOCK_MAX / 2];
  unsigned left = add_operations_at_once(moments, rows, count), timed = 0;
  if (left == 0 || count == 0) return;
  for (unsigned i = 0; i < count; i++) {
    memcpy(&values[i], &rows[2 * i], sizeof values[i]);
    times[timed] = (double)rows[2 * i + 1];
    rates[timed] = values[i] / times[timed];
    timed += rows[2 * i + 1] != 0;
  }
  if (left & 1u) ll_moments_add(&moments[0], values, count);
  if (left & 2u) ll_moments_add(&moments[1], times, timed);
  if (left & 4u) ll_moments_add(&moments[2], rates, timed);
}

/* --- results --- */

void ll_moments_scale(ll_moments *moments, double factor) {
  settle(moments);
  moments->min *= factor, moments->max *= factor;
  moments->sum *= factor, moments->sum_low *= factor;
  moments->squares *= factor * factor, moments->squares_low *= factor * factor;
}

double ll_moments_sum(const ll_moments *moments) {
  ll_moments all = settled(moments);
  return all.sum + all.sum_low;
}

double ll_moments_mean(const ll_moments *moments) {
  ll_moments all = settled(moments);
  return all.count > 0 ? mean_of(&all).high : 0;
}

double ll_moments_variance(const ll_moments *moments) {
  ll_moments all = settled(moments);
  if (all.count < 2) return 0;
  double squares = all.squares + all.squares_low;
  return squares > 0 ? squares / (double)(all.count - 1) : 0;
}
