package io.lifeline.jobs.core;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks timestamps set by producers (Kafka's {@code CreateTime}), which are untrusted. A timestamp is accepted if it
 * is at most an hour before the newest of its partition and at most an hour ahead of the local clock; otherwise it is
 * replaced by the newest of the partition, or by the local time if there is none. Timestamps set by the broker must not
 * be checked, since the local clock may be the one that is wrong. Thread-safe.
 */
public final class ProducerTime {

  private static final Logger LOG = LoggerFactory.getLogger(ProducerTime.class);
  private static final long TOLERANCE_MS = Duration.ofHours(1).toMillis();
  private static final long LOG_INTERVAL_NS = Duration.ofMinutes(1).toNanos();

  private final LongSupplier wallMs;
  private final Map<Integer, Long> newestMs = new HashMap<>();
  private long refused;
  private long loggedNs;

  public ProducerTime() {
    this(System::currentTimeMillis);
  }

  ProducerTime(LongSupplier wallMs) {
    this.wallMs = wallMs;
  }

  /** Returns the message's timestamp if it is plausible, else its replacement. */
  public synchronized long believable(int partition, long offset, long stampMs) {
    long nowMs = wallMs.getAsLong();
    Long newest = newestMs.get(partition);
    long oldestMs = newest == null ? 0 : newest - TOLERANCE_MS;
    if (stampMs >= oldestMs && stampMs <= nowMs + TOLERANCE_MS) {
      newestMs.merge(partition, stampMs, Math::max);
      return stampMs;
    }
    refused++;
    if (refused == 1 || System.nanoTime() - loggedNs > LOG_INTERVAL_NS) {
      loggedNs = System.nanoTime();
      LOG.warn("a producer stamped its message {} ms after 1970, and this machine's clock shows {}: another time stands"
          + " in (partition {}, offset {}; {} so far). Give the topic the broker's time:"
          + " message.timestamp.type=LogAppendTime", stampMs, Instant.ofEpochMilli(nowMs), partition, offset, refused);
    }
    return newest == null ? nowMs : newest;
  }
}
