/* Statistical moments of many values: count, extremes, sum, mean and variance.
 *
 * Values are added in blocks. A block whose values lie near the previous ones is summed in one pass, as distances from
 * a pivot near their mean (the shifted algorithm of Chan, Golub and LeVeque, "Algorithms for computing the sample
 * variance", The American Statistician 37, 1983). If that would lose precision, which the sums themselves show, the
 * block takes two passes with the same authors' correction, and sets a new pivot. Parts are merged by their pairwise
 * update, of which the updates by one value of Welford (Technometrics 4, 1962) and West (CACM 22, 1979) are special
 * cases. Totals are kept in two doubles (Knuth's exact sum of two; Neumaier 1974), so that means stay precise with
 * offsets a quadrillion times larger than the variation.
 *
 * The error of the sum is less than 1e-15 of the sum and of the sum of distances from the mean; that of the variance is
 * less than 1e-12 of itself. tests/test_moments.c compares both with 113-bit arithmetic.
 *
 * Non-finite values are counted separately and affect nothing else. A sum that overflows a double becomes infinite, and
 * so do mean and variance. No result is ever NaN.
 */
#ifndef LIFELINE_MOMENTS_H
#define LIFELINE_MOMENTS_H

#include <stdint.h>

#define LL_MOMENTS_BLOCK_MAX 128

/* All zero: no values. Use the functions below to read it: sums of the values around the pivot are kept separately. */
typedef struct ll_moments {
  uint64_t count; /* of finite values */
  uint64_t not_finite;
  double min, max;
  double sum, sum_low;         /* sum of the values not around the pivot, in two parts */
  double squares, squares_low; /* sum of their squared distances from their mean, likewise */
  double pivot;
  uint64_t near_count;                   /* number of values around the pivot, also included in count */
  double near_sum, near_sum_low;         /* sum of their distances from it */
  double near_squares, near_squares_low; /* sum of the squares of these distances */
} ll_moments;

/* Adds a block of at most LL_MOMENTS_BLOCK_MAX values. Sums of integers are exact. */
void ll_moments_add(ll_moments *moments, const double *values, unsigned count);
void ll_moments_add_i64(ll_moments *moments, const uint64_t *bits, unsigned count);
void ll_moments_add_u64(ll_moments *moments, const uint64_t *bits, unsigned count);

/* Adds to three moments at once: values, times, and values / times. A row is the bits of a double and an integer time;
 * time 0 means none, and the row counts as a value only. At most LL_MOMENTS_BLOCK_MAX / 2 rows. */
void ll_moments_add_operations(ll_moments moments[3], const uint64_t *rows, unsigned count);

void ll_moments_merge(ll_moments *into, const ll_moments *other);

/* Multiplies each value by `factor`, which must be positive. */
void ll_moments_scale(ll_moments *moments, double factor);

/* 0 without values. The variance is the sample variance, squares / (count - 1), and 0 for one value. */
double ll_moments_sum(const ll_moments *moments);
double ll_moments_mean(const ll_moments *moments);
double ll_moments_variance(const ll_moments *moments);

#endif
