package io.lifeline.jobs.core;

import java.time.Duration;
import java.time.Instant;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The brokers' times of messages, as far as they can be believed. What is forgotten and deleted goes by them, and one
 * that is far in the future would have everything forgotten: so none is believed that is ahead of this machine's clock
 * by more than an hour, and that is logged. Whichever of the two clocks is wrong, things are kept too long and not too
 * short. Used by one thread.
 */
public final class BrokerTime {

  private static final Logger LOG = LoggerFactory.getLogger(BrokerTime.class);
  private static final long TOLERANCE_MS = Duration.ofHours(1).toMillis();
  private static final long LOG_INTERVAL_NS = Duration.ofMinutes(1).toNanos();

  private final LongSupplier wallMs;
  private long refused;
  private long loggedNs;

  public BrokerTime() {
    this(System::currentTimeMillis);
  }

  BrokerTime(LongSupplier wallMs) {
    this.wallMs = wallMs;
  }

  /** The position, with a time that can be believed. */
  public Position believable(Position position) {
    long nowMs = wallMs.getAsLong();
    if (position.brokerTimeMs() <= nowMs + TOLERANCE_MS) {
      return position;
    }
    refused++;
    if (refused == 1 || System.nanoTime() - loggedNs > LOG_INTERVAL_NS) {
      loggedNs = System.nanoTime();
      LOG.warn("a message is stamped {} ms after 1970, and this machine's clock shows {}: it is taken for one of now"
          + " (partition {}, offset {}; {} so far). Is the broker's clock wrong, or this one, or are the topic's times"
          + " those of producers?",
          position.brokerTimeMs(), Instant.ofEpochMilli(nowMs), position.partition(), position.offset(), refused);
    }
    return new Position(position.partition(), position.offset(), nowMs);
  }
}
