package io.lifeline.jobs.jetstream;

import java.time.Duration;
import java.util.function.BooleanSupplier;

/**
 * Tells when a checkpoint shall not wait for the end of its interval: when results are due at two looks in a row. So
 * batches that were sent together are all read before; the rest of them would make another revision.
 */
final class EarlyCheckpoint {

  static final Duration LOOK = Duration.ofMillis(50);

  private long lookedNs;
  private boolean wasDue;

  EarlyCheckpoint(long nowNs) {
    this.lookedNs = nowNs;
  }

  boolean isTime(long nowNs, BooleanSupplier isDue) {
    if (nowNs - lookedNs < LOOK.toNanos()) {
      return false;
    }
    lookedNs = nowNs;
    boolean isNow = isDue.getAsBoolean();
    boolean isTime = isNow && wasDue;
    wasDue = isNow && !isTime;
    return isTime;
  }
}
