package io.lifeline.jobs.core.decode;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.Constant;
import io.lifeline.codec.EventType;
import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.Job;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Output;
import io.lifeline.jobs.core.Position;
import java.util.Map;
import java.util.Optional;
import java.util.WeakHashMap;
import java.util.concurrent.TimeUnit;

/**
 * Writes events of the allowed types as JSON, one topic per type. Events with an implausible time are left out: ksqlDB
 * uses the time for records derived from them, and Kafka rejects such a time in every topic. Stateless.
 */
public final class DecodeJob implements Job {

  public static final String NAME = "decode";

  /** Maximum size of an event, which both brokers accept, including headers. */
  private static final int MAX_BYTES = 900_000;

  /** Constants are repeated in every event of their type; the archive, which stores them once, takes larger ones. */
  private static final int MAX_CONSTANT_BYTES = 100_000;

  /**
   * Maximum size of a decoded batch. Host, program and constants are stored once in a batch, but repeated in each of up
   * to 131,072 events, which compress well: 100 kB could become 13 GB. The largest batch of ordinary events takes less
   * than half of this limit.
   */
  private static final long MAX_BATCH_BYTES = 100_000_000;

  /** Destination of a type's events. */
  private record Target(Destination destination, boolean isTooLarge) {}

  private final DecodeSettings settings;
  private final Metrics.Counter decoded;
  private final Metrics.Counter oversize;
  private final Metrics.Counter skewed;
  private final EventJson json = new EventJson();

  /** Weak keys, so that unused types are released: an emitter may send new types without limit. */
  private final Map<EventType, Optional<Target>> targets = new WeakHashMap<>();

  public DecodeJob(DecodeSettings settings, Metrics metrics) {
    this.settings = settings;
    this.decoded = metrics.counter("lifeline_decode_events_total", "Events written as JSON.");
    this.oversize =
        metrics.counter(
            "lifeline_decode_oversize_total",
            "Events left out: the broker cannot take such a message, or their batch would exceed 100 MB.");
    this.skewed =
        metrics.counter(
            "lifeline_decode_skewed_total",
            "Events left out: further ahead of broker time than decode.skew, or before 1970.");
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public void accept(BatchReader batch, Position position, Output output) {
    if (batch.types().stream().allMatch(type -> target(type).isEmpty())) {
      return;
    }
    String incarnation = batch.incarnation().toString();
    String idPrefix = incarnation + "-" + batch.route() + "-" + Long.toUnsignedString(batch.sequence()) + "-";
    long newestNs = TimeUnit.MILLISECONDS.toNanos(position.brokerTimeMs()) + settings.skewNs();
    long left = MAX_BATCH_BYTES;
    while (batch.next()) {
      Optional<Target> target = target(batch.type());
      if (target.isEmpty()) {
        continue;
      }
      if (batch.timeNs() < 0 || batch.timeNs() > newestNs) {
        skewed.increment();
        continue;
      }
      byte[] value = target.get().isTooLarge() || left <= 0 ? null : json.of(batch, incarnation);
      if (value == null || value.length > MAX_BYTES) {
        oversize.increment();
      } else {
        left -= value.length;
        output.send(target.get().destination(), incarnation, idPrefix + batch.eventIndex(), value);
        decoded.increment();
      }
    }
  }

  private Optional<Target> target(EventType type) {
    return targets.computeIfAbsent(
        type,
        t ->
            settings.allows(t.name())
                ? Optional.of(new Target(Destination.events(t.name()), constantBytes(t) > MAX_CONSTANT_BYTES))
                : Optional.empty());
  }

  private static long constantBytes(EventType type) {
    return type.constants().stream()
        .map(Constant::value)
        .mapToLong(value -> value instanceof byte[] bytes ? 2L * bytes.length : value.toString().length())
        .sum();
  }
}
