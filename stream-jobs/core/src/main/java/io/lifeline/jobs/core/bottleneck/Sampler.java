package io.lifeline.jobs.core.bottleneck;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.EventType;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.core.Job;
import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Output;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.plan.TwoStagePlan.Next;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.WeakHashMap;

/**
 * The first stage of the job: makes {@link Sample}s from the events of each emitter.
 *
 * <ul>
 *   <li>A caliper's report is a sample already: three events {@code lifeline.summary} of its value, duration and rate.
 *   <li>Operations with a start and an end event are paired and summed up by interval.
 * </ul>
 *
 * If a caliper reports an operation, its start and end events are ignored.
 */
public final class Sampler implements Job {

  private static final String PREFIX = "bottleneck/emitter/";
  private static final long NS_PER_MS = 1_000_000;

  private final BottleneckSettings settings;
  private final KeyedState state;
  private final Next<Sample> next;
  private final Metrics.Counter samples;
  private final Metrics.Counter unpaired;
  private final Map<Incarnation, Operations> emitters = new HashMap<>();
  private final Set<Incarnation> changed = new HashSet<>();

  /** The route of each emitter's newest operations. Not saved: after a restart, an empty last batch is ignored. */
  private final Map<Incarnation, Integer> routes = new HashMap<>();

  /** Weak keys, so that unused types are released: an emitter may send new types without limit. */
  private final Map<EventType, Optional<Role>> roles = new WeakHashMap<>();

  public Sampler(BottleneckSettings settings, KeyedState state, Metrics metrics, Next<Sample> next) {
    this.settings = settings;
    this.state = state;
    this.next = next;
    this.samples = metrics.counter("lifeline_bottleneck_samples_total", "Samples of components that were evaluated.");
    this.unpaired =
        metrics.counter(
            "lifeline_bottleneck_unpaired_total", "Ends of operations without a start, or after their interval.");
    state.scan(
        PREFIX,
        (key, value) ->
            emitters.put(Incarnation.parse(key.substring(PREFIX.length())), Operations.decode(settings, value)));
  }

  @Override
  public String name() {
    return BottleneckJob.NAME;
  }

  @Override
  public void accept(BatchReader batch, Position position, Output output) {
    Incarnation incarnation = batch.incarnation();
    Operations operations;
    if (batch.types().stream().anyMatch(type -> role(type).isPresent())) {
      operations = emitters.computeIfAbsent(incarnation, key -> new Operations(settings));
      operations.belongTo(settings.group(batch), incarnation.toString(), position.brokerTimeMs());
      routes.put(incarnation, batch.route());
    } else if (batch.isFinal() && routes.getOrDefault(incarnation, -1) == batch.route()) {
      operations = emitters.get(incarnation); // no events were left for the emitter's last batch
    } else {
      return;
    }
    changed.add(incarnation);
    while (batch.next()) {
      Role role = role(batch.type()).orElse(null);
      if (role != null && !role.take(batch, operations)) {
        unpaired.increment();
      }
    }
    operations.complete(batch.isFinal()).forEach(sample -> pass(sample, position.brokerTimeMs()));
    if (batch.isFinal()) {
      emitters.remove(incarnation);
      routes.remove(incarnation);
    }
  }

  private Optional<Role> role(EventType type) {
    return roles.computeIfAbsent(type, t -> Role.of(t, settings.components()));
  }

  private void pass(Sample sample, long brokerTimeMs) {
    samples.increment();
    next.pass(sample, brokerTimeMs);
  }

  /** Completes the intervals of silent emitters, and forgets emitters that are silent for the idle time. */
  @Override
  public void punctuate(long nowMs, Output output) {
    emitters
        .entrySet()
        .removeIf(
            entry -> {
              long lastMs = entry.getValue().lastMs();
              long silentNs = (nowMs - lastMs) * NS_PER_MS;
              boolean isSilent = silentNs > settings.idleNs();
              if (isSilent || silentNs > Operations.PATIENCE * settings.intervalNs()) {
                entry.getValue().complete(true).forEach(sample -> pass(sample, lastMs));
                changed.add(entry.getKey());
              }
              return isSilent;
            });
    routes.keySet().retainAll(emitters.keySet());
  }

  @Override
  public void save() {
    for (Incarnation incarnation : changed) {
      Operations operations = emitters.get(incarnation);
      if (operations == null) {
        state.delete(PREFIX + incarnation);
      } else {
        state.put(PREFIX + incarnation, operations.encode());
      }
    }
    changed.clear();
  }
}
