package io.lifeline.codec;

/** One simultaneous reading of tick, monotonic and realtime clock (FORMAT section 3.3). */
public final class Calibration {
  private final long tick;
  private final long monotonicNs;
  private final long realtimeOffsetNs;
  private final long errorNs;
  private final boolean step;

  public Calibration(long tick, long monotonicNs, long realtimeOffsetNs, long errorNs, boolean step) {
    this.tick = tick;
    this.monotonicNs = monotonicNs;
    this.realtimeOffsetNs = realtimeOffsetNs;
    this.errorNs = errorNs;
    this.step = step;
  }

  /** Unsigned. */
  public long tick() {
    return tick;
  }

  /** CLOCK_MONOTONIC_RAW; unsigned. */
  public long monotonicNs() {
    return monotonicNs;
  }

  /** CLOCK_REALTIME minus CLOCK_MONOTONIC_RAW. */
  public long realtimeOffsetNs() {
    return realtimeOffsetNs;
  }

  /** Returns the maximum distance in time between the three readings. */
  public long errorNs() {
    return errorNs;
  }

  /** Returns whether realtime was set between the previous calibration and this one. */
  public boolean step() {
    return step;
  }
}
