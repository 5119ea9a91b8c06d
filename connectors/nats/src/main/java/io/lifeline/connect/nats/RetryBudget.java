package io.lifeline.connect.nats;

import org.apache.kafka.connect.errors.ConnectException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Exponential backoff while the broker is unreachable; fails the task when the time limit is exceeded. */
final class RetryBudget {

  private static final Logger LOG = LoggerFactory.getLogger(RetryBudget.class);
  private static final long NS_PER_MS = 1_000_000;
  private static final long FIRST_PAUSE_MS = 100;
  private static final long LONGEST_PAUSE_MS = 5_000;

  private final String what;
  private final long limitMs;
  private long sinceNs;
  private long pauseMs;

  /**
   * Creates an unused budget.
   *
   * @param what the operation, for messages
   * @param limitMs time limit; -1 for none
   */
  RetryBudget(String what, long limitMs) {
    this.what = what;
    this.limitMs = limitMs;
  }

  /**
   * Records a failed attempt.
   *
   * @return the pause before the next attempt, in milliseconds
   * @throws ConnectException if the time limit is exceeded
   */
  long after(String cause) {
    long now = System.nanoTime();
    if (pauseMs == 0) {
      LOG.warn("{}: {}; retrying", what, cause);
      sinceNs = now;
      pauseMs = FIRST_PAUSE_MS;
    } else {
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    }
    long sinceMs = (now - sinceNs) / NS_PER_MS;
    if (limitMs >= 0 && sinceMs >= limitMs) {
      throw new ConnectException(
          what + ": " + cause + "; failing for " + sinceMs / 1000 + " s, longer than "
              + ConnectionConfig.RETRY_TIMEOUT + " allows");
    }
    return pauseMs;
  }

  /** Records a successful attempt. */
  void restored() {
    if (pauseMs > 0) {
      LOG.info("{}: recovered", what);
      pauseMs = 0;
    }
  }
}
