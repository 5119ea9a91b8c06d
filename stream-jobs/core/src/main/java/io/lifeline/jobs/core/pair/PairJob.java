package io.lifeline.jobs.core.pair;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.BatchTooLargeException;
import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.Calibration;
import io.lifeline.codec.EventType;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.core.Job;
import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Output;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.derive.DerivedStream;
import io.lifeline.jobs.core.pair.OpenHalves.Waiting;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.WeakHashMap;

/**
 * Computes durations: {@code disk.read.start} and {@code disk.read.end} with the same id, from the same emitter, become
 * one event {@code disk.read.duration} with that id. It has the time of the end and is sent in a batch of a derived
 * stream. To pair events of different emitters, use SQL on the archive.
 */
public final class PairJob implements Job {

  public static final String NAME = "pair";

  /** A complete pair. */
  private record Duration(Half half, Pair pair, long endNs, long durationNs, long thread) {}

  private static final long NS_PER_S = 1_000_000_000;
  private static final String PREFIX = "pair/";

  /** Bits of a record's first word that hold the type's number; the others hold the tick. */
  private static final int TYPE_BITS = 16;

  private final PairSettings settings;
  private final KeyedState state;
  private final DerivedStream stream;
  private final Metrics.Counter unpaired;

  /** Emitters that may have waiting halves, the most recently heard last. */
  private final Map<Incarnation, OpenHalves> emitters = new LinkedHashMap<>();

  private final Set<Incarnation> changed = new HashSet<>();

  /** Weak keys, so that unused types are released: an emitter may send new types without limit. */
  private final Map<EventType, Optional<Half>> halves = new WeakHashMap<>();

  /**
   * Time for waiting halves: the broker's time of the newest batch with halves. It does not advance between batches:
   * otherwise timeouts would depend on when a batch is read, and a repeat after a crash could have different content.
   */
  private long streamMs;

  public PairJob(PairSettings settings, KeyedState state, Metrics metrics) {
    this.settings = settings;
    this.state = state;
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
            "Halves of pairs given up: the other did not come in time, or another took its place.");
    List<Map.Entry<Incarnation, OpenHalves>> saved = new ArrayList<>();
    state.scan(
        PREFIX,
        (key, value) ->
            saved.add(Map.entry(Incarnation.parse(key.substring(PREFIX.length())), OpenHalves.decode(value))));
    saved.sort(Comparator.comparingLong(entry -> entry.getValue().lastMs()));
    for (Map.Entry<Incarnation, OpenHalves> entry : saved) {
      emitters.put(entry.getKey(), entry.getValue());
      streamMs = entry.getValue().lastMs();
    }
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public void accept(BatchReader batch, Position position, Output output) {
    List<Duration> durations = new ArrayList<>();
    if (batch.types().stream().anyMatch(type -> half(type).isPresent())) {
      pair(batch, position, durations);
    }
    stream.derive(
        batch, position, durations.size(), (from, to) -> write(batch, durations.subList(from, to)), output);
  }

  private void pair(BatchReader batch, Position position, List<Duration> durations) {
    streamMs = Math.max(streamMs, position.brokerTimeMs());
    OpenHalves known = emitters.remove(batch.incarnation());
    OpenHalves open = known != null ? known : new OpenHalves();
    emitters.put(batch.incarnation(), open);
    changed.add(batch.incarnation());
    unpaired.add(open.giveUp(streamMs, settings.timeoutMs(), settings.maxOpen()));
    while (batch.next()) {
      Half half = half(batch.type()).orElse(null);
      Pair pair = half == null ? null : half.pair(batch);
      if (pair != null) {
        long timeNs = batch.timeNs();
        Waiting other = open.add(pair, half.isStart(), timeNs, streamMs);
        if (other != null && other.isStart() == half.isStart()) {
          unpaired.increment();
        } else if (other != null) {
          long startNs = half.isStart() ? timeNs : other.timeNs();
          long endNs = half.isStart() ? other.timeNs() : timeNs;
          durations.add(new Duration(half, pair, endNs, endNs - startNs, batch.thread()));
        }
      }
    }
    unpaired.add(open.giveUp(streamMs, settings.timeoutMs(), settings.maxOpen()));
    forgetSilent();
  }

  /** Removes emitters that are silent for longer than the timeout: all their halves are overdue. */
  private void forgetSilent() {
    Iterator<Map.Entry<Incarnation, OpenHalves>> silent = emitters.entrySet().iterator();
    while (silent.hasNext()) {
      Map.Entry<Incarnation, OpenHalves> emitter = silent.next();
      if (streamMs - emitter.getValue().lastMs() <= settings.timeoutMs()) {
        return;
      }
      unpaired.add(emitter.getValue().size());
      changed.add(emitter.getKey());
      silent.remove();
    }
  }

  /** Ticks are nanoseconds since the first event, not the parent's, since halves may be from other batches. */
  private static BatchWriter write(BatchReader parent, List<Duration> durations) {
    long zeroNs = durations.isEmpty() ? 0 : durations.get(0).endNs();
    long errorNs = parent.header().calibrations().stream().mapToLong(Calibration::errorNs).max().orElse(0);
    BatchWriter writer =
        new BatchWriter()
            .host(parent.host())
            .program(parent.program())
            .pid(parent.pid())
            .ticks(0, NS_PER_S, true)
            .calibration(0, 0, zeroNs, errorNs, false);
    parent.header().contextPairs().forEach(pair -> writer.context(pair.getKey(), pair.getValue()));
    long thread = -1;
    for (Duration duration : durations) {
      if (thread != duration.thread() || duration == durations.get(0)) {
        thread = duration.thread();
        writer.thread(thread);
      }
      long tick = duration.endNs() - zeroNs;
      if (tick != tick << TYPE_BITS >> TYPE_BITS) {
        throw new BatchTooLargeException("a batch spans 39 hours before and after its first event");
      }
      Half half = duration.half();
      writer.event(half.duration(), tick, half.values(duration.pair(), duration.durationNs()));
    }
    return writer;
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
    for (Incarnation incarnation : changed) {
      OpenHalves open = emitters.get(incarnation);
      if (open == null) {
        state.delete(PREFIX + incarnation);
      } else {
        state.put(PREFIX + incarnation, open.encode());
      }
    }
    changed.clear();
  }
}
