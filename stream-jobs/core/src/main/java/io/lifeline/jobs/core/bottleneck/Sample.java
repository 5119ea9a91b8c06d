package io.lifeline.jobs.core.bottleneck;

import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;

/**
 * What one emitter's operations on one component did in one interval: a caliper's report, or the same made of pairs of
 * events. It travels from where batches are read to where all emitters of a group meet.
 *
 * @param group whose components are compared with each other, see {@link BottleneckSettings}
 * @param component as the configuration calls it, {@code disk-write}
 * @param emitter whose operations they are
 * @param endNs when the interval ended, since the Unix epoch
 * @param intervalNs how long it was
 * @param count operations that ended in it
 * @param bytes that they moved
 * @param busyNs the sum of their durations: waiting for more to do is not in it
 * @param busyVariance variance of their durations, in ns^2; 0 of one operation
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
    double busyVariance) {

  /** Operations of which the unevenness is told; that of fewer is chance. */
  private static final int LEAST_FOR_UNEVENNESS = 4;

  /**
   * The mean instantaneous throughput (tput_i of papers/003), weighted by time: bytes per second of being at work. The
   * unweighted mean of nbytes / dur counts a write into a cache as much as the one that had to wait for the disk.
   */
  double workRate() {
    return bytes / busyNs * 1e9;
  }

  /** Whether its speeds are numbers whose logarithms are: what emitters report may be anything. */
  boolean hasSpeed() {
    return isPositive(workRate()) && isPositive(bytes / intervalNs * 1e9);
  }

  private static boolean isPositive(double number) {
    return number > 0 && Double.isFinite(number);
  }

  /**
   * Standard deviation of the durations over their mean; NaN of too few. Not of the rates: there the duration is below
   * the line, and the one operation that a cache answered would say all.
   */
  double unevenness() {
    return count < LEAST_FOR_UNEVENNESS ? Double.NaN : Math.sqrt(busyVariance) * count / busyNs;
  }

  public byte[] toBytes() {
    return new StateWriter()
        .version(1)
        .text(group)
        .text(component)
        .text(emitter)
        .zigzag(endNs)
        .varint(intervalNs)
        .varint(count)
        .real(bytes)
        .real(busyNs)
        .real(busyVariance)
        .toBytes();
  }

  public static Sample fromBytes(byte[] bytes) {
    StateReader in = new StateReader(bytes).version(1);
    return new Sample(
        in.text(), in.text(), in.text(), in.zigzag(), in.varint(), in.varint(), in.real(), in.real(), in.real());
  }
}
