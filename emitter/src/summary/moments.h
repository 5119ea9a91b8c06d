/* What is kept of many values instead of the values: count, extremes, sum, mean and variance.
 *
 * Values come in blocks. A block whose values lie around those of before is summed up in one pass, as distances from a
 * pivot near their mean (the shifted algorithm of Chan, Golub and LeVeque, "Algorithms for computing the sample
 * variance", The American Statistician 37, 1983). Where that would cost digits, which the sums themselves tell, the
 * block takes the long way: two passes with the same authors' correction, and a new pivot. Parts are merged by their
 * pairwise update, of which Welford's (Technometrics 4, 1962) and West's (CACM 22, 1979) one value at a time is the
 * special case. Totals are carried in two doubles (Knuth's exact sum of two; Neumaier 1974), so that means keep their
 * digits behind offsets a quadrillion times larger than what varies.
 *
 * The sum is off by less than 1e-15 of itself and of the sum of the values' distances from their mean, and the variance
 * by less than 1e-12 of itself: tests/test_moments.c holds them to 113-bit arithmetic.
 *
 * Not finite values are counted apart and touch nothing else. A sum that leaves a double's range turns infinite, and so
 * do mean and variance. Nothing here ever turns into a NaN.
 */
#ifndef LIFELINE_MOMENTS_H
#define LIFELINE_MOMENTS_H

#include <stdint.h>

#define LL_MOMENTS_BLOCK_MAX 128

/* All zero: of no value. Read it by the functions below: of the values around the pivot, sums are kept apart. */
typedef struct ll_moments {
  uint64_t count; /* of finite values */
  uint64_t not_finite;
  double min, max;
  double sum, sum_low;         /* of those that are not around the pivot; both together */
  double squares, squares_low; /* sum of their squared distances from their mean, likewise */
  double pivot;
  uint64_t near_count;                   /* of those around the pivot, which are counted above, too */
  double near_sum, near_sum_low;         /* of their distances from it */
  double near_squares, near_squares_low; /* of these distances' squares */
} ll_moments;

/* Adds a block of at most LL_MOMENTS_BLOCK_MAX values. Integers are taken as they are: that many sum up exactly. */
void ll_moments_add(ll_moments *moments, const double *values, unsigned count);
void ll_moments_add_i64(ll_moments *moments, const uint64_t *bits, unsigned count);
void ll_moments_add_u64(ll_moments *moments, const uint64_t *bits, unsigned count);

/* Adds to three at once: values, times, and values / times. A row is a double's bits and a time as an integer; 0 is
 * none, and the row counts as a value alone. At most LL_MOMENTS_BLOCK_MAX / 2 rows. */
void ll_moments_add_operations(ll_moments moments[3], const uint64_t *rows, unsigned count);

void ll_moments_merge(ll_moments *into, const ll_moments *other);

/* As if each value had been multiplied by `factor`, which is positive. */
void ll_moments_scale(ll_moments *moments, double factor);

/* 0 of no value. The variance is the sample's, squares / (count - 1), and 0 of one value. */
double ll_moments_sum(const ll_moments *moments);
double ll_moments_mean(const ll_moments *moments);
double ll_moments_variance(const ll_moments *moments);

#endif
