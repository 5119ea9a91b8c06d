package io.lifeline.connect.nats;

import org.apache.kafka.connect.errors.ConnectException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How long a task puts up with a broker that is away: it says so once, waits a little longer each time, and in the end
 * fails, since a task that is silently stuck is seen by nobody.
 */
final class Patience {

  private static final Logger LOG = LoggerFactory.getLogger(Patience.class);
  private static final long NS_PER_MS = 1_000_000;
  private static final long FIRST_PAUSE_MS = 100;
  private static final long LONGEST_PAUSE_MS = 5_000;

  private final String what;
  private final long limitMs;
  private long sinceNs;
  private long pauseMs;

  /**
   * Starts with all of it.
   *
   * @param what is done, for messages
   * @param limitMs when it ends; -1 for never
   */
  Patience(String what, long limitMs) {
    this.what = what;
    this.limitMs = limitMs;
  }

  /**
   * It failed again.
   *
   * @return how long to wait before the next attempt, in milliseconds
   * @throws ConnectException if that has gone on for too long
   */
  long after(String cause) {
    long now = System.nanoTime();
    if (pauseMs == 0) {
      LOG.warn("{}: {}; trying again", what, cause);
      sinceNs = now;
      pauseMs = FIRST_PAUSE_MS;
    } else {
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    }
    long sinceMs = (now - sinceNs) / NS_PER_MS;
    if (limitMs >= 0 && sinceMs >= limitMs) {
      throw new ConnectException(
          what + ": " + cause + "; for " + sinceMs / 1000 + " s, more than " + ConnectionConfig.RETRY_TIMEOUT
              + " allows");
    }
    return pauseMs;
  }

  /** It works. */
  void restored() {
    if (pauseMs > 0) {
      LOG.info("{}: works again", what);
      pauseMs = 0;
    }
  }
}
