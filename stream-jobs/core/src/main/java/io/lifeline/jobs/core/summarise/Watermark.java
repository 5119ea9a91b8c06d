package io.lifeline.jobs.core.summarise;

import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.RouteKey;
import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * The time up to which events are expected to have arrived: the least of what the active emitters have reached. An
 * emitter that was silent for too long, or has said its last word, no longer counts. With none left, it is now. Never
 * goes back.
 */
final class Watermark {

  private static final String PREFIX = "summarise/emitter/";
  private static final String KEY = "summarise/watermark";

  private record Reached(long newestNs, long brokerTimeMs) {}

  private final KeyedState state;
  private final long idleMs;
  private final Map<RouteKey, Reached> active = new HashMap<>();
  private final Set<RouteKey> changed = new HashSet<>();
  private long valueNs = Long.MIN_VALUE;
  private long savedNs = Long.MIN_VALUE;

  Watermark(KeyedState state, long idleNs) {
    this.state = state;
    this.idleMs = idleNs / 1_000_000;
    byte[] saved = state.get(KEY);
    if (saved != null) {
      valueNs = savedNs = new StateReader(saved).version(1).fixed64();
    }
    state.scan(
        PREFIX,
        (key, value) -> {
          StateReader in = new StateReader(value).version(1);
          active.put(RouteKey.parse(key.substring(PREFIX.length())), new Reached(in.fixed64(), in.varint()));
        });
  }

  /** Nanoseconds since the Unix epoch, as of the last {@link #advance}. */
  long valueNs() {
    return valueNs;
  }

  void observe(Progress progress) {
    if (progress.isFinal()) {
      active.remove(progress.emitter());
    } else {
      active.merge(
          progress.emitter(),
          new Reached(progress.newestNs(), progress.brokerTimeMs()),
          (a, b) ->
              new Reached(Math.max(a.newestNs(), b.newestNs()), Math.max(a.brokerTimeMs(), b.brokerTimeMs())));
    }
    changed.add(progress.emitter());
  }

  void advance(long nowMs) {
    Set<RouteKey> idle = new HashSet<>();
    active.forEach(
        (emitter, reached) -> {
          if (nowMs - reached.brokerTimeMs() >= idleMs) {
            idle.add(emitter);
          }
        });
    active.keySet().removeAll(idle);
    changed.addAll(idle);
    long least = active.values().stream().mapToLong(Reached::newestNs).min().orElse(nowMs * 1_000_000);
    valueNs = Math.max(valueNs, least);
  }

  void save() {
    for (RouteKey key : changed) {
      Reached reached = active.get(key);
      if (reached == null) {
        state.delete(PREFIX + key);
      } else {
        state.put(
            PREFIX + key,
            new StateWriter().version(1).fixed64(reached.newestNs()).varint(reached.brokerTimeMs()).toBytes());
      }
    }
    changed.clear();
    if (savedNs != valueNs) {
      state.put(KEY, new StateWriter().version(1).fixed64(valueNs).toBytes());
      savedNs = valueNs;
    }
  }
}
