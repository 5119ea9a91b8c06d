package io.lifeline.jobs.core;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Tells a failure that is worth a line in the log from a repetition: a retry each second would fill the log with the
 * same text. Used by one thread.
 */
public final class RepeatedFailure {
  private static final long REMINDER_NS = Duration.ofMinutes(10).toNanos();

  private final LongSupplier nanoTime;
  private String last;
  private long loggedNs;

  public RepeatedFailure() {
    this(System::nanoTime);
  }

  RepeatedFailure(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /** Returns whether to log the failure: its text differs from the last one, or that was long ago. */
  public boolean isNews(String text) {
    long now = nanoTime.getAsLong();
    if (text.equals(last) && now - loggedNs < REMINDER_NS) {
      return false;
    }
    last = text;
    loggedNs = now;
    return true;
  }

  /** Reports success: the next failure is logged. */
  public void ends() {
    last = null;
  }
}
