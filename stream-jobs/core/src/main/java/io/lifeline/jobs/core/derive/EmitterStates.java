package io.lifeline.jobs.core.derive;

import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.Position;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * What a job remembers of each emitter from batch to batch. Time is the broker's time of the newest batch; it does not
 * advance between batches: otherwise timeouts would depend on when a batch is read, and a repeat after a crash could
 * have different content. Used by one thread.
 */
public final class EmitterStates<S extends EmitterStates.State> {

  /** What is remembered of one emitter. */
  public interface State {
    /** The stream's time of the emitter's newest batch. */
    long lastMs();

    byte[] encode();
  }

  private final KeyedState state;
  private final String prefix;

  /** The most recently heard emitter last. */
  private final Map<Incarnation, S> emitters = new LinkedHashMap<>();

  private final Set<Incarnation> changed = new HashSet<>();
  private long streamMs;

  /** @param prefix of the keys in the state, with a slash at its end */
  public EmitterStates(KeyedState state, String prefix, Function<byte[], S> decode) {
    this.state = state;
    this.prefix = prefix;
    List<Map.Entry<Incarnation, S>> saved = new ArrayList<>();
    state.scan(
        prefix,
        (key, value) -> saved.add(Map.entry(Incarnation.parse(key.substring(prefix.length())), decode.apply(value))));
    saved.sort(Comparator.comparingLong(entry -> entry.getValue().lastMs()));
    for (Map.Entry<Incarnation, S> entry : saved) {
      emitters.put(entry.getKey(), entry.getValue());
      streamMs = entry.getValue().lastMs();
    }
  }

  /** Returns the emitter's state, which the caller will change, and advances the stream's time. */
  public S heard(Incarnation emitter, Position position, Supplier<S> create) {
    streamMs = Math.max(streamMs, position.brokerTimeMs());
    S known = emitters.remove(emitter);
    S current = known != null ? known : create.get();
    emitters.put(emitter, current);
    changed.add(emitter);
    return current;
  }

  public long streamMs() {
    return streamMs;
  }

  /** Forgets an emitter that has ended. */
  public void forget(Incarnation emitter) {
    emitters.remove(emitter);
    changed.add(emitter);
  }

  /** Forgets emitters that have been silent for longer than that, and returns their states. */
  public List<S> forgetSilent(long silenceMs) {
    List<S> forgotten = new ArrayList<>();
    Iterator<Map.Entry<Incarnation, S>> oldest = emitters.entrySet().iterator();
    while (oldest.hasNext()) {
      Map.Entry<Incarnation, S> emitter = oldest.next();
      if (streamMs - emitter.getValue().lastMs() <= silenceMs) {
        break;
      }
      forgotten.add(emitter.getValue());
      changed.add(emitter.getKey());
      oldest.remove();
    }
    return forgotten;
  }

  /** Writes what changed since the last call into the state. */
  public void save() {
    for (Incarnation emitter : changed) {
      S current = emitters.get(emitter);
      if (current == null) {
        state.delete(prefix + emitter);
      } else {
        state.put(prefix + emitter, current.encode());
      }
    }
    changed.clear();
  }
}
