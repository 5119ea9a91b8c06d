package io.lifeline.jobs.core;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Times that producers gave their messages, where a topic takes those (Kafka's {@code CreateTime}): anybody who may
 * publish says what he likes. So such a time is believed between an hour before the newest of its partition and an hour
 * ahead of this machine's clock; for any other the newest of the partition stands in. A broker's own times need no such
 * check, and must not get one: this machine's clock may be the one that is wrong. Safe for any thread.
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

  /** The time of the message at that place as far as it can be believed. */
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
