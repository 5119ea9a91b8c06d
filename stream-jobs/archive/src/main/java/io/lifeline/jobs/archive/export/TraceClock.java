package io.lifeline.jobs.archive.export;

/**
 * The time in a trace: nanoseconds since its first event. Readers of traces subtract times, and drawings begin at their
 * first event anyway.
 */
final class TraceClock {
  /** From 1677 to 2262 is more than 64 bits can count, and readers with doubles round up. */
  private static final long MAX_NS = 1L << 62;

  private final Counts counts;
  private boolean started;
  private long firstNs;
  private long nowNs;

  TraceClock(Counts counts) {
    this.counts = counts;
  }

  /** Advances to an event that is not earlier than the previous one. */
  void advance(long timeNs) {
    if (!started) {
      started = true;
      firstNs = timeNs;
    }
    nowNs = timeNs - firstNs;
    if (nowNs < 0 || nowNs > MAX_NS) {
      nowNs = MAX_NS;
      counts.add("beyond_146_years", 1);
    }
  }

  /** Returns the time in the trace. */
  long nowNs() {
    return nowNs;
  }

  /** Returns when the trace began, in nanoseconds since 1970; 0 if it has no events. */
  long firstNs() {
    return firstNs;
  }
}
