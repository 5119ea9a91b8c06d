package io.lifeline.jobs.core.bottleneck;

import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import java.util.Comparator;

/**
 * Statistics of one emitter's operations on one component in one interval: a caliper's report, or the equivalent made
 * of pairs of events. It is sent from the task that reads batches to the task that monitors the group.
 *
 * @param group group of components that are compared with each other, see {@link BottleneckSettings}
 * @param component name in the configuration, such as {@code disk-write}
 * @param emitter incarnation of the emitter
 * @param endNs end of the interval, since the Unix epoch
 * @param intervalNs length of the interval
 * @param count operations that ended in it
 * @param bytes bytes that they moved
 * @param busyNs sum of their durations, without idle time between them
 * @param busyVariance variance of their durations, in ns^2; 0 for one operation
 * @param threads threads that ran at least one of them; 0 if unknown
 */
public record Sample(
    String group,
    String component,
    String emitter,
    long endNs,
    long intervalNs,
    long count,
    double bytes,
    double busyNs,
    double busyVariance,
    long threads) {

  /** The order in which samples are judged, wherever they come from. */
  static final Comparator<Sample> ORDER =
      Comparator.comparingLong(Sample::endNs).thenComparing(Sample::emitter).thenComparing(Sample::component);

  private static final int LAYOUT = 2;

  /** Minimum number of operations for the unevenness, which is random for fewer. */
  private static final int LEAST_FOR_UNEVENNESS = 4;

  /**
   * Returns the mean instantaneous throughput (tput_i of papers/003), weighted by time: bytes per second of work. The
   * unweighted mean of nbytes / dur would count a write to a cache as much as one that waited for the disk.
   */
  double workRate() {
    return bytes / busyNs * 1e9;
  }

  /** Returns whether the speeds are positive and finite, so that they have logarithms: emitters may report anything. */
  boolean hasSpeed() {
    return isPositive(workRate()) && isPositive(bytes / intervalNs * 1e9);
  }

  private static boolean isPositive(double number) {
    return number > 0 && Double.isFinite(number);
  }

  /**
   * Returns the standard deviation of the durations divided by their mean; NaN for too few. Rates are not used: there
   * the duration is the divisor, and a single operation answered by a cache would dominate.
   */
  double unevenness() {
    return count < LEAST_FOR_UNEVENNESS ? Double.NaN : Math.sqrt(busyVariance) * count / busyNs;
  }

  public byte[] toBytes() {
    return new StateWriter()
        .version(LAYOUT)
        .text(group)
        .text(component)
        .text(emitter)
        .zigzag(endNs)
        .varint(intervalNs)
        .varint(count)
        .real(bytes)
        .real(busyNs)
        .real(busyVariance)
        .varint(threads)
        .toBytes();
  }

  public static Sample fromBytes(byte[] bytes) {
    StateReader in = new StateReader(bytes).version(LAYOUT);
    return new Sample(
        in.text(), in.text(), in.text(), in.zigzag(), in.varint(), in.varint(), in.real(), in.real(), in.real(),
        in.varint());
  }
}
