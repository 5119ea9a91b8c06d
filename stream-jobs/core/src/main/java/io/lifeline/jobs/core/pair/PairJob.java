package io.lifeline.jobs.core.pair;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.EventType;
import io.lifeline.jobs.core.Job;
import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Output;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.derive.DerivedStream;
import io.lifeline.jobs.core.derive.EmitterStates;
import io.lifeline.jobs.core.derive.NewEvent;
import io.lifeline.jobs.core.pair.OpenHalves.Waiting;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.WeakHashMap;

/**
 * Computes durations: {@code disk.read.start} and {@code disk.read.end} with the same id, from the same emitter, become
 * one event {@code disk.read.duration} with that id. It has the time of the end and is sent in a batch of a derived
 * stream. To pair events of different emitters, use SQL on the archive.
 */
public final class PairJob implements Job {

  public static final String NAME = "pair";

  private final PairSettings settings;
  private final DerivedStream stream;
  private final Metrics.Counter unpaired;

  /** Emitters that may have waiting halves. */
  private final EmitterStates<OpenHalves> emitters;

  /** Weak keys, so that unused types are released: an emitter may send new types without limit. */
  private final Map<EventType, Optional<Half>> halves = new WeakHashMap<>();

  public PairJob(PairSettings settings, KeyedState state, Metrics metrics) {
    this.settings = settings;
    this.stream =
        new DerivedStream(
            settings.stream(),
            settings.recipe(),
            DerivedStream.Rest.FOLDED,
            state,
            settings.retentionMs(),
            metrics);
    this.unpaired =
        metrics.counter(
            "lifeline_pair_unpaired_total",
            "Halves of pairs dropped: the other one did not arrive in time, or a newer one replaced it.");
    this.emitters = new EmitterStates<>(state, "pair/", OpenHalves::decode);
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public void accept(BatchReader batch, Position position, Output output) {
    List<NewEvent> durations = new ArrayList<>();
    if (batch.types().stream().anyMatch(type -> half(type).isPresent())) {
      pair(batch, position, durations);
    }
    stream.derive(
        batch, position, durations.size(), (from, to) -> NewEvent.write(batch, durations.subList(from, to)), output);
  }

  private void pair(BatchReader batch, Position position, List<NewEvent> durations) {
    OpenHalves open = emitters.heard(batch.incarnation(), position, OpenHalves::new);
    unpaired.add(open.giveUp(emitters.streamMs(), settings.timeoutMs(), settings.maxOpen()));
    while (batch.next()) {
      Half half = half(batch.type()).orElse(null);
      Pair pair = half == null ? null : half.pair(batch);
      if (pair != null) {
        long timeNs = batch.timeNs();
        Waiting other = open.add(pair, half.isStart(), timeNs, emitters.streamMs());
        if (other != null && other.isStart() == half.isStart()) {
          unpaired.increment();
        } else if (other != null) {
          long startNs = half.isStart() ? timeNs : other.timeNs();
          long endNs = half.isStart() ? other.timeNs() : timeNs;
          durations.add(new NewEvent(half.duration(), endNs, batch.thread(), half.values(pair, endNs - startNs)));
        }
      }
    }
    unpaired.add(open.giveUp(emitters.streamMs(), settings.timeoutMs(), settings.maxOpen()));
    emitters.forgetSilent(settings.timeoutMs()).forEach(overdue -> unpaired.add(overdue.size()));
  }

  private Optional<Half> half(EventType type) {
    return halves.computeIfAbsent(type, t -> Optional.ofNullable(Half.of(t, settings.by())));
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
