package io.lifeline.jobs.core.decode;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.EventType;
import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.Job;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Output;
import io.lifeline.jobs.core.Position;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Optional;

/** Writes events of the allowed types as JSON, each type to its own topic. Remembers nothing. */
public final class DecodeJob implements Job {

  public static final String NAME = "decode";

  private final DecodeSettings settings;
  private final Metrics.Counter decoded;
  private final EventJson json = new EventJson();
  private final Map<EventType, Optional<Destination>> destinations = new IdentityHashMap<>();

  public DecodeJob(DecodeSettings settings, Metrics metrics) {
    this.settings = settings;
    this.decoded = metrics.counter("lifeline_decode_events_total", "Events written as JSON.");
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public void accept(BatchReader batch, Position position, Output output) {
    if (batch.types().stream().allMatch(type -> destination(type).isEmpty())) {
      return;
    }
    String incarnation = batch.incarnation().toString();
    String idPrefix = incarnation + "-" + batch.route() + "-" + Long.toUnsignedString(batch.sequence()) + "-";
    while (batch.next()) {
      Optional<Destination> destination = destination(batch.type());
      if (destination.isPresent()) {
        output.send(destination.get(), incarnation, idPrefix + batch.eventIndex(), json.of(batch, incarnation));
        decoded.increment();
      }
    }
  }

  /** Types are the same instance in every batch of one reader. */
  private Optional<Destination> destination(EventType type) {
    return destinations.computeIfAbsent(
        type, t -> settings.allows(t.name()) ? Optional.of(Destination.events(t.name())) : Optional.empty());
  }
}
