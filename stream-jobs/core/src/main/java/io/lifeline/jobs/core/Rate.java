package io.lifeline.jobs.core;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** Rate per second over the last ten complete seconds. Thread-safe. */
final class Rate {

  private static final int SECONDS = 10;

  private final LongSupplier nanoTime;
  private final long startNs;
  /** The count of second {@code s} since the start is at index {@code s % counts.length}. */
  private final long[] counts = new long[SECONDS + 1];

  private long currentSecond;

  /** @param nanoTime usually {@code System::nanoTime} */
  Rate(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.startNs = nanoTime.getAsLong();
  }

  synchronized void add(long n) {
    turn();
    counts[place(currentSecond)] += n;
  }

  synchronized double perSecond() {
    turn();
    long sum = 0;
    for (long second = Math.max(0, currentSecond - SECONDS); second < currentSecond; second++) {
      sum += counts[place(second)];
    }
    return (double) sum / SECONDS;
  }

  /** Advances to the current second and clears the counts of the seconds in between. */
  private void turn() {
    long now = TimeUnit.NANOSECONDS.toSeconds(nanoTime.getAsLong() - startNs);
    for (int turned = 0; currentSecond < now && turned < counts.length; turned++) {
      counts[place(++currentSecond)] = 0;
    }
    // After a longer silence all counts are 0, so the remaining seconds can be skipped.
    currentSecond = Math.max(currentSecond, now);
  }

  private int place(long second) {
    return (int) (second % counts.length);
  }
}
