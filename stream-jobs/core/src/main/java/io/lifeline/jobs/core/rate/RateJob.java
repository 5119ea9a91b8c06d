package io.lifeline.jobs.core.rate;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.EventType;
import io.lifeline.jobs.core.FieldSelector;
import io.lifeline.jobs.core.Job;
import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Output;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.derive.DerivedStream;
import io.lifeline.jobs.core.derive.EmitterStates;
import io.lifeline.jobs.core.derive.NewEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.WeakHashMap;

/**
 * Computes rates of change: of two consecutive events {@code host.network} of an emitter with equal strings, the second
 * becomes an event {@code host.network.rate} with those strings and the change per second of each selected field.
 */
public final class RateJob implements Job {

  public static final String NAME = "rate";

  /** How long a silent emitter is remembered. It determines the output, as the settings do. */
  private static final long SILENCE_MS = 3_600_000;

  private final List<FieldSelector> fields;
  private final DerivedStream stream;
  private final Metrics.Counter forgotten;
  private final Metrics.Counter tooLong;
  private final EmitterStates<Samples> emitters;

  /** Weak keys, so that unused types are released: an emitter may send new types without limit. */
  private final Map<EventType, Optional<Rates>> rates = new WeakHashMap<>();

  /** @param of the text of {@code fields} */
  RateJob(List<FieldSelector> fields, String of, String to, long retentionMs, KeyedState state, Metrics metrics) {
    this.fields = fields;
    String recipe = "of " + of + " within " + SILENCE_MS + " ms";
    this.stream = new DerivedStream(to, recipe, DerivedStream.Rest.LEFT_OUT, state, retentionMs, metrics);
    this.forgotten =
        metrics.counter("lifeline_rate_forgotten_total", "Series dropped: their emitter has too many.");
    this.tooLong =
        metrics.counter(
            "lifeline_rate_long_names_total", "Types without rates: a name or a unit would exceed 255 bytes.");
    this.emitters = new EmitterStates<>(state, "rate/", Samples::decode);
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public void accept(BatchReader batch, Position position, Output output) {
    List<NewEvent> events = new ArrayList<>();
    if (batch.types().stream().anyMatch(type -> rates(type).isPresent())) {
      Samples samples = emitters.heard(batch.incarnation(), position, Samples::new);
      while (batch.next()) {
        rates(batch.type()).flatMap(of -> of.next(batch, samples)).ifPresent(events::add);
      }
      forgotten.add(samples.bound(emitters.streamMs()));
      emitters.forgetSilent(SILENCE_MS);
      if (batch.isFinal()) {
        emitters.forget(batch.incarnation());
      }
    }
    stream.derive(
        batch, position, events.size(), (from, to) -> NewEvent.write(batch, events.subList(from, to)), output);
  }

  private Optional<Rates> rates(EventType type) {
    return rates.computeIfAbsent(type, t -> Rates.of(t, fields, tooLong));
  }

  @Override
  public void forget(long nowMs) {
    stream.forget(nowMs);
  }

  @Override
  public void save() {
    stream.save();
    emitters.save();
  }
}
