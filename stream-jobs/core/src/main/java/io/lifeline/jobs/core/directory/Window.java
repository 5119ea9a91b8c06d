package io.lifeline.jobs.core.directory;

import java.util.Arrays;

/** Counts of the last minute, in steps of ten seconds of the broker's time. */
final class Window {
  static final long LENGTH_MS = 60_000;
  private static final long STEP_MS = 10_000;
  private static final int STEPS = (int) (LENGTH_MS / STEP_MS);

  /** Not exact for what nobody can have counted, but emitters may claim any number, and a sum must not overflow. */
  private final double[] counts = new double[STEPS];
  private long firstMs = Long.MIN_VALUE;
  private long lastStep;

  void add(long atMs, long count) {
    long step = Math.floorDiv(atMs, STEP_MS);
    if (firstMs == Long.MIN_VALUE || step - lastStep >= STEPS) {
      firstMs = firstMs == Long.MIN_VALUE ? atMs : firstMs;
      Arrays.fill(counts, 0);
      lastStep = step;
    }
    for (; lastStep < step; lastStep++) {
      counts[Math.floorMod(lastStep + 1, STEPS)] = 0;
    }
    if (lastStep - step < STEPS) {
      counts[Math.floorMod(step, STEPS)] += count;
    }
  }

  /** Returns the rate of the last minute, or since the first count if that is less. */
  double perSecond(long nowMs) {
    long nowStep = Math.floorDiv(nowMs, STEP_MS);
    double sum = 0;
    for (long step = Math.max(nowStep, lastStep) - STEPS + 1; step <= lastStep; step++) {
      sum += counts[Math.floorMod(step, STEPS)];
    }
    // The steps before this one are whole, this one is not.
    long lengthMs = LENGTH_MS - STEP_MS + Math.floorMod(nowMs, STEP_MS);
    return sum == 0 ? 0 : sum * 1000.0 / Math.max(1000, Math.min(lengthMs, nowMs - firstMs));
  }
}
