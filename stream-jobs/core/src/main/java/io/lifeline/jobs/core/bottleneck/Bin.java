package io.lifeline.jobs.core.bottleneck;

import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;

/** Sums up the operations of one emitter on one component that end in one interval. */
final class Bin {

  private final long startNs;
  private long count;
  private double bytes;
  private double busyNs;
  private double meanNs;
  private double squaredDeviations;

  Bin(long startNs) {
    this.startNs = startNs;
  }

  long startNs() {
    return startNs;
  }

  /** @param durationNs 0 counts as 1: the operation took less than the clock's resolution */
  void add(double moved, long durationNs) {
    double took = Math.max(1, durationNs);
    count++;
    bytes += moved;
    busyNs += took;
    double delta = took - meanNs;
    meanNs += delta / count;
    squaredDeviations += delta * (took - meanNs);
  }

  Sample sample(String group, String component, String emitter, long intervalNs) {
    double variance = count < 2 ? 0 : squaredDeviations / (count - 1);
    return new Sample(
        group, component, emitter, startNs + intervalNs, intervalNs, count, bytes, busyNs, variance);
  }

  void encode(StateWriter out) {
    out.zigzag(startNs).varint(count).real(bytes).real(busyNs).real(meanNs).real(squaredDeviations);
  }

  static Bin decode(StateReader in) {
    Bin bin = new Bin(in.zigzag());
    bin.count = in.varint();
    bin.bytes = in.real();
    bin.busyNs = in.real();
    bin.meanNs = in.real();
    bin.squaredDeviations = in.real();
    return bin;
  }
}
