package io.lifeline.jobs.core.bottleneck;

import java.util.Arrays;

/**
 * A change of a series' level. It is detected by the cut whose two sides differ most in the ranks of their values (the
 * standardised Mann-Whitney statistic, at its maximum over all cuts: Pettitt 1979; as a sequential test: Hawkins and
 * Deng 2010). Ranks are robust against outliers, which are common in measurements of disks and networks. The change is
 * located by the least absolute deviations from both sides' medians, since the best cut by ranks is biased towards the
 * middle.
 *
 * @param at index of the first value after the change
 * @param score standard deviations between the sum of ranks and its expected value, corrected for the correlation of
 *     neighbours
 * @param shift median after minus median before
 */
record ChangePoint(int at, double score, double shift) {

  /** Minimum number of values on each side. */
  static final int LEAST_SIDE = 5;

  /**
   * Returns the change with at least that score; null if there is none, or if it is so recent that its position is
   * uncertain: it may be later, which the next value shows.
   */
  static ChangePoint find(double[] values, double leastScore) {
    double ranked = values.length < 2 * LEAST_SIDE ? 0 : bestScore(values);
    if (ranked < leastScore) {
      return null;
    }
    int at = place(values);
    if (at == values.length - LEAST_SIDE) {
      return null;
    }
    double before = median(values, 0, at);
    double after = median(values, at, values.length);
    double score = ranked * Math.sqrt(independentShare(values, at, before, after));
    return score < leastScore ? null : new ChangePoint(at, score, after - before);
  }

  /** Returns 0 if all values are equal. */
  private static double bestScore(double[] values) {
    int n = values.length;
    double[] ranks = new double[n];
    double variance = rank(values, ranks);
    double best = 0;
    double sum = 0;
    for (int cut = 1; cut <= n - LEAST_SIDE && variance > 0; cut++) {
      sum += ranks[cut - 1];
      if (cut >= LEAST_SIDE) {
        best = Math.max(best, Math.abs(sum - cut * (n + 1) / 2.0) / Math.sqrt(variance * cut * (n - cut)));
      }
    }
    return best;
  }

  private static int place(double[] values) {
    int n = values.length;
    double[] reversed = new double[n];
    Arrays.setAll(reversed, i -> values[n - 1 - i]);
    double[] before = deviations(values);
    double[] after = deviations(reversed);
    int place = LEAST_SIDE;
    double least = Double.POSITIVE_INFINITY;
    for (int cut = LEAST_SIDE; cut <= n - LEAST_SIDE; cut++) {
      double deviations = before[cut] + after[n - cut];
      if (deviations < least) {
        least = deviations;
        place = cut;
      }
    }
    return place;
  }

  /**
   * Returns, for each number of leading values, the sum of their absolute deviations from their median: for sorted
   * values, the sum of the upper half minus the sum of the lower half. Sorting each prefix again would take many times
   * as long, and a batch can contain thousands of samples.
   */
  private static double[] deviations(double[] values) {
    double[] sums = new double[values.length + 1];
    double[] sorted = new double[values.length];
    for (int count = 0; count < values.length; count++) {
      int found = Arrays.binarySearch(sorted, 0, count, values[count]);
      int at = found < 0 ? -found - 1 : found;
      System.arraycopy(sorted, at, sorted, at + 1, count - at);
      sorted[at] = values[count];
      double sum = 0;
      for (int low = 0, high = count; low < high; low++, high--) {
        sum += sorted[high] - sorted[low];
      }
      sums[count + 1] = sum;
    }
    return sums;
  }

  /** Writes mid-ranks; returns the variance of one side's sum of ranks divided by the product of the sides' lengths. */
  private static double rank(double[] values, double[] ranks) {
    int n = values.length;
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    double[] midRanks = new double[n];
    double ties = 0;
    for (int from = 0; from < n; ) {
      int to = from + 1;
      while (to < n && sorted[to] == sorted[from]) {
        to++;
      }
      Arrays.fill(midRanks, from, to, (from + 1 + to) / 2.0);
      double tied = to - from;
      ties += tied * tied * tied - tied;
      from = to;
    }
    for (int i = 0; i < n; i++) {
      ranks[i] = midRanks[Arrays.binarySearch(sorted, values[i])];
    }
    return (n + 1 - ties / (n * (n - 1.0))) / 12;
  }

  /** Uses the deviations from each side's own level, since the change itself would look like correlation. */
  private static double independentShare(double[] values, int cut, double before, double after) {
    double products = 0;
    double squares = 0;
    for (int i = 0; i < values.length; i++) {
      double deviation = values[i] - (i < cut ? before : after);
      squares += deviation * deviation;
      if (i > 0 && i != cut) {
        products += deviation * (values[i - 1] - (i < cut ? before : after));
      }
    }
    return Level.independentShare(products, squares);
  }

  private static double median(double[] values, int from, int to) {
    double[] sorted = Arrays.copyOfRange(values, from, to);
    Arrays.sort(sorted);
    int half = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  }
}
