package io.lifeline.jobs.core.summarise;

import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;

/**
 * Statistics of values that are not stored: count, extremes, mean and variance (Welford's algorithm, merged by Chan's
 * rule) and a quantile sketch of 1 % relative error. Merging is commutative and associative, up to rounding of the
 * floating-point sums. NaN and the infinities are counted separately and otherwise ignored.
 */
public final class Aggregate {

  /** Fewer values than this are added one by one. */
  private static final int WORTH_A_COLUMN = 32;

  private long count;
  private long notANumber;
  private long positiveInfinity;
  private long negativeInfinity;
  private double min = Double.POSITIVE_INFINITY;
  private double max = Double.NEGATIVE_INFINITY;
  private double sum;
  private double mean;
  private double squaredDeviations;
  private Quantiles quantiles = new Quantiles();

  public void add(double value) {
    if (!Double.isFinite(value)) {
      addNonFinite(value);
      return;
    }
    count++;
    min = Math.min(min, value);
    max = Math.max(max, value);
    sum += value;
    double delta = value - mean;
    mean += delta / count;
    squaredDeviations += delta * (value - mean);
    quantiles.add(value);
  }

  /** Adds the values from one index to another (exclusive): as {@link #add} for each, but much faster. */
  public void add(double[] values, int from, int to) {
    int n = to - from;
    double columnSum = n < WORTH_A_COLUMN ? Double.NaN : sum(values, from, to);
    if (!Double.isFinite(columnSum)) {
      for (int i = from; i < to; i++) {
        add(values[i]);
      }
      return;
    }
    double least = values[from];
    double most = values[from];
    for (int i = from + 1; i < to; i++) {
      double value = values[i];
      if (value < least) {
        least = value;
      }
      if (value > most) {
        most = value;
      }
    }
    double columnMean = columnSum / n;
    mergeMoments(n, columnSum, columnMean, squaredDeviations(values, from, to, columnMean));
    min = Math.min(min, least);
    max = Math.max(max, most);
    quantiles.add(values, from, to);
  }

  /** Uses four independent sums, so that the additions can overlap. */
  private static double sum(double[] values, int from, int to) {
    double a = 0;
    double b = 0;
    double c = 0;
    double d = 0;
    int i = from;
    for (; i < to - 3; i += 4) {
      a += values[i];
      b += values[i + 1];
      c += values[i + 2];
      d += values[i + 3];
    }
    for (; i < to; i++) {
      a += values[i];
    }
    return a + b + (c + d);
  }

  private static double squaredDeviations(double[] values, int from, int to, double mean) {
    double a = 0;
    double b = 0;
    double c = 0;
    double d = 0;
    int i = from;
    for (; i < to - 3; i += 4) {
      a += square(values[i] - mean);
      b += square(values[i + 1] - mean);
      c += square(values[i + 2] - mean);
      d += square(values[i + 3] - mean);
    }
    for (; i < to; i++) {
      a += square(values[i] - mean);
    }
    return a + b + (c + d);
  }

  private static double square(double value) {
    return value * value;
  }

  private void addNonFinite(double value) {
    if (Double.isNaN(value)) {
      notANumber++;
    } else if (value > 0) {
      positiveInfinity++;
    } else {
      negativeInfinity++;
    }
  }

  /** Adds the values of the other aggregate, which is not changed. */
  public void merge(Aggregate other) {
    notANumber += other.notANumber;
    positiveInfinity += other.positiveInfinity;
    negativeInfinity += other.negativeInfinity;
    if (other.count == 0) {
      return;
    }
    mergeMoments(other.count, other.sum, other.mean, other.squaredDeviations);
    min = Math.min(min, other.min);
    max = Math.max(max, other.max);
    quantiles.merge(other.quantiles);
  }

  /** Chan's rule. */
  private void mergeMoments(long otherCount, double otherSum, double otherMean, double otherDeviations) {
    long both = count + otherCount;
    double delta = otherMean - mean;
    squaredDeviations += otherDeviations + delta * delta * ((double) count * otherCount / both);
    mean += delta * ((double) otherCount / both);
    count = both;
    sum += otherSum;
  }

  /** Returns the number of all values, including those that are not finite. */
  public long values() {
    return count + notANumber + positiveInfinity + negativeInfinity;
  }

  /** Returns the number of finite values. */
  public long count() {
    return count;
  }

  public long notANumber() {
    return notANumber;
  }

  public long positiveInfinity() {
    return positiveInfinity;
  }

  public long negativeInfinity() {
    return negativeInfinity;
  }

  /** Returns NaN if there is no finite value, as do the following statistics except {@link #sum}. */
  public double min() {
    return count == 0 ? Double.NaN : min;
  }

  public double max() {
    return count == 0 ? Double.NaN : max;
  }

  public double sum() {
    return sum;
  }

  public double mean() {
    return count == 0 ? Double.NaN : mean;
  }

  /** Returns the sample standard deviation, with divisor n - 1; 0 for a single value. */
  public double standardDeviation() {
    return count == 0 ? Double.NaN : count == 1 ? 0 : Math.sqrt(squaredDeviations / (count - 1));
  }

  /** Returns the value below which that share of the values lies, within 1 % and between minimum and maximum. */
  public double quantile(double share) {
    return count == 0 ? Double.NaN : Math.max(min, Math.min(max, quantiles.at(share)));
  }

  public void encode(StateWriter out) {
    out.varint(count).varint(notANumber).varint(positiveInfinity).varint(negativeInfinity);
    if (count > 0) {
      out.real(min).real(max).real(sum).real(mean).real(squaredDeviations);
      quantiles.encode(out);
    }
  }

  public static Aggregate decode(StateReader in) {
    Aggregate aggregate = new Aggregate();
    aggregate.count = in.varint();
    aggregate.notANumber = in.varint();
    aggregate.positiveInfinity = in.varint();
    aggregate.negativeInfinity = in.varint();
    if (aggregate.count > 0) {
      aggregate.min = in.real();
      aggregate.max = in.real();
      aggregate.sum = in.real();
      aggregate.mean = in.real();
      aggregate.squaredDeviations = in.real();
      aggregate.quantiles = Quantiles.decode(in);
    }
    return aggregate;
  }
}
