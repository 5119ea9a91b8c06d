package io.lifeline.jobs.core.bottleneck;

import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import java.util.Set;
import java.util.TreeSet;

/** Sums up the operations of one emitter on one component that end in one interval. */
final class Bin {

  /** Bounds the state of a program that starts a thread for each operation; beyond it, the number is unknown. */
  private static final int MAX_THREADS = 1024;

  private final long startNs;
  private long count;
  private double bytes;
  private double busyNs;
  private double meanNs;
  private double squaredDeviations;
  private final Set<Long> threads = new TreeSet<>();

  Bin(long startNs) {
    this.startNs = startNs;
  }

  long startNs() {
    return startNs;
  }

  /** @param durationNs 0 counts as 1: the operation took less than the clock's resolution */
  void add(double moved, long durationNs, long thread) {
    if (threads.size() <= MAX_THREADS) {
      threads.add(thread);
    }
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
        group, component, emitter, startNs + intervalNs, intervalNs, count, bytes, busyNs, variance,
        threads.size() > MAX_THREADS ? 0 : threads.size());
  }

  void encode(StateWriter out) {
    out.zigzag(startNs).varint(count).real(bytes).real(busyNs).real(meanNs).real(squaredDeviations);
    out.varint(threads.size());
    threads.forEach(out::zigzag);
  }

  static Bin decode(StateReader in) {
    Bin bin = new Bin(in.zigzag());
    bin.count = in.varint();
    bin.bytes = in.real();
    bin.busyNs = in.real();
    bin.meanNs = in.real();
    bin.squaredDeviations = in.real();
    for (int left = in.count(1); left > 0; left--) {
      bin.threads.add(in.zigzag());
    }
    return bin;
  }
}
