package io.lifeline.containers;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for what happens in a container, which only asking shows. */
final class Await {

  private static final long PAUSE_NS = 200_000_000;

  private Await() {}

  /**
   * Asks until the condition holds, at least once.
   *
   * @param deadline by {@link System#nanoTime}
   * @return false when it did not hold in time
   */
  static boolean until(long deadline, BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > deadline || Thread.currentThread().isInterrupted()) {
        return false;
      }
      LockSupport.parkNanos(PAUSE_NS);
    }
    return true;
  }
}
