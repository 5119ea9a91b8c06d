package io.lifeline.jobs.core.bottleneck;

import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.apache.commons.statistics.distribution.TDistribution;

/**
 * The level of a series and its uncertainty, as input of a t-test. Values of rates are logarithms, since rates differ
 * by factors, and since a few very fast operations would otherwise dominate the mean.
 *
 * @param count effective number of independent values: neighbours in time are correlated, and a test that counted each
 *     of them would be overconfident
 * @param mean NaN without values
 * @param variance of the values
 * @param freedom degrees of freedom of the variance
 */
record Level(long count, double mean, double variance, double freedom) {

  static final Level UNKNOWN = new Level(0, Double.NaN, Double.NaN);

  Level(long count, double mean, double variance) {
    this(count, mean, variance, count - 1);
  }

  /** Clocks do not resolve rate differences below a thousandth; also prevents division by 0 if all values are equal. */
  private static final double LEAST_VARIANCE = 1e-6;

  /** Returns the level of the finite values, which are in order of time. */
  static Level of(double[] series) {
    double[] equal = new double[series.length];
    Arrays.fill(equal, 1);
    return of(series, equal);
  }

  /** As {@link #of(double[])}, where a value with a greater weight counts for more; weights are positive. */
  static Level of(double[] series, double[] weights) {
    int[] known = IntStream.range(0, series.length).filter(i -> Double.isFinite(series[i])).toArray();
    if (known.length < 2) {
      return UNKNOWN;
    }
    double total = 0;
    double totalOfSquares = 0;
    double mean = 0;
    for (int i : known) {
      total += weights[i];
      totalOfSquares += weights[i] * weights[i];
      mean += (series[i] - mean) * weights[i] / total;
    }
    double squares = 0;
    double products = 0;
    double before = 0;
    for (int i : known) {
      double deviation = (series[i] - mean) * Math.sqrt(weights[i]);
      squares += deviation * deviation;
      products += deviation * before;
      before = deviation;
    }
    double equivalent = total * total / totalOfSquares; // so many equal weights would give the same uncertainty
    double variance = equivalent <= 1 ? 0 : squares / total * equivalent / (equivalent - 1);
    return new Level(Math.max(2, (long) (equivalent * independentShare(products, squares))), mean,
        Math.max(LEAST_VARIANCE, variance));
  }

  /** Returns the share of independent values in a series with first-order autoregressive correlation. */
  static double independentShare(double lagProducts, double squares) {
    double correlation = squares == 0 ? 0 : Math.max(0, Math.min(0.95, lagProducts / squares));
    return (1 - correlation) / (1 + correlation);
  }

  boolean isKnown() {
    return count > 0;
  }

  /** Returns the probability, by Welch's t-test, of such a difference if this level were not below the other. */
  double chanceOfBeingBelow(Level other) {
    double here = variance / count;
    double there = other.variance / other.count;
    double both = here + there;
    double degrees = both * both / (here * here / freedom + there * there / other.freedom);
    return TDistribution.of(degrees).cumulativeProbability((mean - other.mean) / Math.sqrt(both));
  }

  /**
   * Returns this level with the pooled variance of both. Two values in a row say little about their own variance, but
   * the series of which they are the end has been as noisy before.
   */
  Level withNoiseOf(Level longer) {
    if (!isKnown() || !longer.isKnown()) {
      return this;
    }
    double pooled = (variance * freedom + longer.variance * longer.freedom) / (freedom + longer.freedom);
    return new Level(count, mean, pooled, freedom + longer.freedom);
  }

  void encode(StateWriter out) {
    out.varint(count);
    if (isKnown()) {
      out.real(mean).real(variance);
    }
  }

  static Level decode(StateReader in) {
    long count = in.varint();
    return count == 0 ? UNKNOWN : new Level(count, in.real(), in.real());
  }
}
