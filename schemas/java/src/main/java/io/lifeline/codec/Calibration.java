package io.lifeline.codec;

/** One reading of tick, monotonic and realtime clock as one instant (FORMAT section 3.3). */
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

  /** How far apart the three readings may have been. */
  public long errorNs() {
    return errorNs;
  }

  /** Whether realtime was set between the calibration before and this one. */
  public boolean step() {
    return step;
  }
}
