package io.lifeline.console.webhook;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * How hard a delivery is tried.
 *
 * @param timeout of an attempt, from connecting to the end of the answer
 * @param attempts after which a batch is dropped
 * @param firstPause between the first two attempts; doubled for each further one
 */
public record DeliveryLimits(Duration timeout, int attempts, Duration firstPause) {
  public static final DeliveryLimits USUAL = new DeliveryLimits(Duration.ofSeconds(10), 7, Duration.ofSeconds(1));

  /** Returns the pause after that failed attempt: half of it at random, so that targets are not hit by all at once. */
  long pauseMs(int attempt) {
    long whole = firstPause.toMillis() << (attempt - 1);
    return whole / 2 + ThreadLocalRandom.current().nextLong(whole / 2 + 1);
  }
}
