package io.lifeline.jobs.kafka;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.LongSupplier;

/** Limits how often failures count as transient. Thread-safe. */
final class FailureBudget {

  static final int MOST = 5;
  static final Duration WITHIN = Duration.ofMinutes(5);

  private final LongSupplier nanoTime;
  private final Deque<Long> failures = new ArrayDeque<>();

  FailureBudget(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /** Counts a failure; returns whether there were at most {@link #MOST} within the last {@link #WITHIN}. */
  synchronized boolean allowsAnother() {
    long now = nanoTime.getAsLong();
    while (!failures.isEmpty() && now - failures.peekFirst() > WITHIN.toNanos()) {
      failures.removeFirst();
    }
    failures.addLast(now);
    return failures.size() <= MOST;
  }
}
