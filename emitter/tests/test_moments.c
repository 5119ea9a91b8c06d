/* Precision of summaries, checked against exact arithmetic. */
#include "summary/moments.h"
#include "support.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Exact enough here: 113 bits, and an exponent that does not overflow. */
typedef __float128 exact;

typedef struct truth {
  exact sum, mean, variance;
  exact spread; /* sum of the distances from the mean */
  double min, max;
} truth;

static truth truth_of(const exact *values, size_t count) {
  truth t = {.min = (double)values[0], .max = (double)values[0]};
  exact left = 0, squares = 0;
  for (size_t i = 0; i < count; i++)
    t.sum += values[i];
  t.mean = t.sum / (exact)count;
  for (size_t i = 0; i < count; i++) {
    exact apart = values[i] - t.mean;
    left += apart;
    squares += apart * apart;
    t.spread += apart < 0 ? -apart : apart;
    if ((double)values[i] < t.min) t.min = (double)values[i];
    if ((double)values[i] > t.max) t.max = (double)values[i];
  }
  t.variance = count > 1 ? (squares - left * left / (exact)count) / (exact)(count - 1) : 0;
  return t;
}

/* The error may be 10^-digits of `scale`, or the smallest double. */
static void check_near(exact expected, double found, exact scale, int digits, const char *what) {
  exact error = expected - (exact)found;
  if (error < 0) error = -error;
  if (scale < 0) scale = -scale;
  if (error <= (exact)DBL_TRUE_MIN) return;
  for (int i = 0; i < digits; i++)
    error *= 10;
  if (error > scale) fail_msg("%s: %.17g instead of %.17g", what, found, (double)expected);
}

static exact size_of(exact value) {
  return value < 0 ? -value : value;
}

static void check(const ll_moments *moments, const exact *values, size_t count) {
  truth t = truth_of(values, count);
  assert_int_equal(moments->count, count);
  assert_true(moments->min == t.min && moments->max == t.max);
  check_near(t.sum, ll_moments_sum(moments), size_of(t.sum) + t.spread, 15, "sum");
  check_near(t.mean, ll_moments_mean(moments), size_of(t.mean) + t.spread / (exact)count, 15, "mean");
  check_near(t.variance, ll_moments_variance(moments), t.variance, 12, "variance");
}

static uint64_t next_random(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *state >> 11;
}

static double unit_random(uint64_t *state) {
  return (double)next_random(state) / 9007199254740992.0;
}

enum { COUNT = 10000 };

/* Adds blocks of every length, as intervals and full cells do. */
static ll_moments moments_of(const double *values, size_t count) {
  ll_moments moments = {0};
  unsigned block = 1;
  for (size_t i = 0; i < count; i += block, block = block % LL_MOMENTS_BLOCK_MAX + 1) {
    if (block > count - i) block = (unsigned)(count - i);
    ll_moments_add(&moments, values + i, block);
  }
  return moments;
}

static void check_series(double (*value)(size_t i, uint64_t *state)) {
  static double values[COUNT];
  static exact exactly[COUNT];
  uint64_t state = 42;
  for (size_t i = 0; i < COUNT; i++)
    exactly[i] = values[i] = value(i, &state);
  for (size_t count = 1; count <= COUNT; count = count * 3 + 1) {
    ll_moments moments = moments_of(values, count);
    check(&moments, exactly, count);
  }
}

static double ordinary(size_t i, uint64_t *state) {
  (void)i;
  return unit_random(state) * 1000 - 300;
}

static double behind_an_offset(size_t i, uint64_t *state) {
  (void)i;
  return 1e15 + unit_random(state);
}

static double after_an_outlier(size_t i, uint64_t *state) {
  return i == 0 ? 1e15 : unit_random(state);
}

static double cancelling(size_t i, uint64_t *state) {
  static const double step[] = {1e16, 1, -1e16};
  (void)state;
  return step[i % 3];
}

static double denormal(size_t i, uint64_t *state) {
  (void)i;
  return DBL_TRUE_MIN * (double)(next_random(state) % 1000);
}

static double all_equal(size_t i, uint64_t *state) {
  (void)i, (void)state;
  return 0.1;
}

static double of_all_sizes(size_t i, uint64_t *state) {
  return ldexp(unit_random(state) - 0.5, (int)(i % 600) - 300);
}

static double rising(size_t i, uint64_t *state) {
  (void)state;
  return (double)i;
}

static void ordinary_values_are_summed_up_right(void **state) {
  (void)state;
  check_series(ordinary);
  check_series(rising);
}

static void an_offset_of_a_quadrillion_does_not_hide_what_varies(void **state) {
  (void)state;
  check_series(behind_an_offset);
}

static void one_outlier_does_not_spoil_the_others(void **state) {
  (void)state;
  check_series(after_an_outlier);
  check_series(of_all_sizes);
}

static void values_that_cancel_leave_a_sum_as_exact_as_they_are_themselves(void **state) {
  (void)state;
  check_series(cancelling);
}

static void denormal_numbers_count(void **state) {
  (void)state;
  check_series(denormal);
}

static void equal_values_do_not_vary(void **state) {
  (void)state;
  check_series(all_equal);
  double values[64];
  for (int i = 0; i < 64; i++)
    values[i] = 0.1;
  ll_moments moments = moments_of(values, 64);
  assert_true(ll_moments_variance(&moments) < 1e-30);
}

static void what_is_not_finite_is_counted_and_touches_nothing(void **state) {
  (void)state;
  static const double values[] = {1, NAN, 2, INFINITY, 3, -INFINITY, -NAN};
  static const exact finite[] = {1, 2, 3};
  ll_moments moments = {0};
  ll_moments_add(&moments, values, 7);
  assert_int_equal(moments.not_finite, 4);
  check(&moments, finite, 3);

  ll_moments none = {0};
  ll_moments_add(&none, values + 1, 1);
  assert_int_equal(none.count, 0);
  assert_int_equal(none.not_finite, 1);
  assert_true(ll_moments_mean(&none) == 0 && ll_moments_variance(&none) == 0);
  ll_moments_merge(&none, &moments);
  assert_int_equal(none.not_finite, 5);
  check(&none, finite, 3);
}

static void a_sum_out_of_range_is_infinite_and_never_not_a_number(void **state) {
  (void)state;
  static const double values[] = {DBL_MAX, DBL_MAX, -DBL_MAX, 1, -DBL_MAX, -DBL_MAX, -DBL_MAX};
  ll_moments moments = {0};
  for (int i = 0; i < 100; i++)
    ll_moments_add(&moments, values, 7);
  assert_int_equal(moments.count, 700);
  assert_true(moments.min == -DBL_MAX && moments.max == DBL_MAX);
  assert_true(!isnan(ll_moments_sum(&moments)) && !isnan(ll_moments_mean(&moments)));
  assert_true(ll_moments_variance(&moments) == INFINITY);
}

static void sixty_four_bit_integers_are_told_apart_where_a_double_cannot(void **state) {
  (void)state;
  static const uint64_t patterns[][4] = {
      {0, UINT64_MAX, 0, UINT64_MAX},
      {UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 2, UINT64_MAX},
      {(uint64_t)INT64_MIN, (uint64_t)INT64_MAX, (uint64_t)INT64_MIN, (uint64_t)INT64_MAX},
      {(uint64_t)INT64_MIN, (uint64_t)INT64_MIN + 1, (uint64_t)INT64_MIN + 3, (uint64_t)INT64_MIN},
      {(uint64_t)1 << 53, ((uint64_t)1 << 53) + 1, ((uint64_t)1 << 53) + 2, ((uint64_t)1 << 53) + 1},
      {1, (uint64_t)-1, 2, (uint64_t)-2},
  };
  for (size_t p = 0; p < sizeof patterns / sizeof patterns[0]; p++) {
    for (int is_signed = 0; is_signed < 2; is_signed++) {
      uint64_t bits[64];
      exact exactly[64];
      for (int i = 0; i < 64; i++) {
        bits[i] = patterns[p][i % 4];
        exactly[i] = is_signed ? (exact)(int64_t)bits[i] : (exact)bits[i];
      }
      for (unsigned count = 1; count <= 64; count++) {
        ll_moments moments = {0};
        unsigned half = count / 2;
        if (is_signed) {
          ll_moments_add_i64(&moments, bits, half);
          ll_moments_add_i64(&moments, bits + half, count - half);
        } else {
          ll_moments_add_u64(&moments, bits, half);
          ll_moments_add_u64(&moments, bits + half, count - half);
        }
        check(&moments, exactly, count);
      }
    }
  }
}

/* Two values, each 2^40 times: mean and variance follow from the two alone. */
static void huge_counts_merge_without_drift(void **state) {
  (void)state;
  static const double values[] = {1e15, 1e15 + 1};
  ll_moments moments = {0};
  ll_moments_add(&moments, values, 2);
  for (int i = 0; i < 40; i++) {
    ll_moments same = moments;
    ll_moments_merge(&moments, &same);
  }
  exact count = (exact)((uint64_t)1 << 41);
  assert_int_equal(moments.count, (uint64_t)1 << 41);
  check_near((exact)1e15 + 0.5, ll_moments_mean(&moments), (exact)1e15, 15, "mean");
  check_near(count / 4 / (count - 1), ll_moments_variance(&moments), (exact)0.25, 12, "variance");
}

static void a_factor_multiplies_as_if_each_value_had_it(void **state) {
  (void)state;
  static const double values[] = {1, 2, 4};
  static const exact thrice[] = {3, 6, 12};
  ll_moments moments = {0};
  ll_moments_add(&moments, values, 3);
  ll_moments_scale(&moments, 3);
  check(&moments, thrice, 3);
}

/* Blocks of every length, mostly of short operations. Optionally some took 0 ticks, and some more than a double
 * represents exactly. */
static void check_operations(double (*value)(size_t i, uint64_t *state), bool some_are_odd) {
  static uint64_t rows[2 * COUNT];
  static exact values[COUNT], times[COUNT], rates[COUNT];
  uint64_t state = 43;
  size_t timed = 0;
  for (size_t i = 0; i < COUNT; i++) {
    double of_row = value(i, &state);
    uint64_t ticks = 1 + next_random(&state) % 100000;
    if (some_are_odd && i % 1000 == 999) ticks = i % 2000 == 999 ? 0 : UINT64_C(0xfffffffffffff000);
    memcpy(&rows[2 * i], &of_row, sizeof of_row);
    rows[2 * i + 1] = ticks;
    values[i] = of_row;
    if (ticks == 0) continue;
    times[timed] = (double)ticks;
    rates[timed++] = of_row / (double)ticks;
  }
  ll_moments moments[3] = {0};
  unsigned block = 1;
  for (size_t i = 0; i < COUNT; i += block, block = block % (LL_MOMENTS_BLOCK_MAX / 2) + 1) {
    if (block > COUNT - i) block = (unsigned)(COUNT - i);
    ll_moments_add_operations(moments, rows + 2 * i, block);
  }
  check(&moments[0], values, COUNT);
  check(&moments[1], times, timed);
  check(&moments[2], rates, timed);
}

static void operations_are_summed_up_as_values_times_and_rates(void **state) {
  (void)state;
  static double (*const series[])(size_t, uint64_t *) = {ordinary, behind_an_offset, after_an_outlier, rising};
  for (size_t i = 0; i < sizeof series / sizeof *series; i++) {
    check_operations(series[i], false);
    check_operations(series[i], true);
  }
}

static void an_operation_whose_value_is_not_finite_has_no_finite_rate(void **state) {
  (void)state;
  ll_moments moments[3] = {0};
  uint64_t rows[128];
  for (int i = 0; i < 64; i++) {
    double value = i == 13 ? NAN : i == 14 ? INFINITY : i;
    memcpy(&rows[2 * i], &value, sizeof value);
    rows[2 * i + 1] = 2;
  }
  ll_moments_add_operations(moments, rows + 64, 32); /* so that there are moments before */
  ll_moments_add_operations(moments, rows, 64);
  assert_int_equal(moments[0].count, 94);
  assert_int_equal(moments[0].not_finite, 2);
  assert_int_equal(moments[1].count, 96);
  assert_int_equal(moments[2].count, 94);
  assert_int_equal(moments[2].not_finite, 2);
  assert_true(isfinite(ll_moments_variance(&moments[2])));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ordinary_values_are_summed_up_right),
      cmocka_unit_test(an_offset_of_a_quadrillion_does_not_hide_what_varies),
      cmocka_unit_test(one_outlier_does_not_spoil_the_others),
      cmocka_unit_test(values_that_cancel_leave_a_sum_as_exact_as_they_are_themselves),
      cmocka_unit_test(denormal_numbers_count),
      cmocka_unit_test(equal_values_do_not_vary),
      cmocka_unit_test(what_is_not_finite_is_counted_and_touches_nothing),
      cmocka_unit_test(a_sum_out_of_range_is_infinite_and_never_not_a_number),
      cmocka_unit_test(sixty_four_bit_integers_are_told_apart_where_a_double_cannot),
      cmocka_unit_test(huge_counts_merge_without_drift),
      cmocka_unit_test(a_factor_multiplies_as_if_each_value_had_it),
      cmocka_unit_test(operations_are_summed_up_as_values_times_and_rates),
      cmocka_unit_test(an_operation_whose_value_is_not_finite_has_no_finite_rate),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
