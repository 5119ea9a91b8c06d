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
 * Progress of event time: the minimum over the active emitters, limited by the input read so far. An emitter that has
 * been silent for too long, or has sent its final batch, is not active. Neither of the two times goes back.
 */
final class Watermark {

  private static final String PREFIX = "summarise/emitter/";
  private static final String KEY = "summarise/watermark";
  private static final long NS_PER_MS = 1_000_000;

  private record Reached(long newestNs, long brokerTimeMs) {
    Reached later(Reached other) {
      return new Reached(Math.max(newestNs, other.newestNs), Math.max(brokerTimeMs, other.brokerTimeMs));
    }
  }

  private final KeyedState state;
  private final long idleMs;
  private final Map<RouteKey, Reached> active = new HashMap<>();
  private final Set<RouteKey> changed = new HashSet<>();
  private long arrivedNs = Long.MIN_VALUE;
  private long passedNs = Long.MIN_VALUE;
  /** Maximum lead of events over the broker's time at which it received them; negative if all were behind. */
  private long leadNs = Long.MIN_VALUE;

  private boolean isSaved = true;

  Watermark(KeyedState state, long idleNs) {
    this.state = state;
    this.idleMs = idleNs / NS_PER_MS;
    byte[] saved = state.get(KEY);
    if (saved != null) {
      StateReader in = new StateReader(saved).version(2);
      arrivedNs = in.fixed64();
      passedNs = in.fixed64();
      leadNs = in.fixed64();
    }
    state.scan(
        PREFIX,
        (key, value) -> {
          StateReader in = new StateReader(value).version(1);
          active.put(RouteKey.parse(key.substring(PREFIX.length())), new Reached(in.fixed64(), in.varint()));
        });
  }

  /**
   * Returns the time up to which events are expected to have arrived, in nanoseconds since the Unix epoch, as of the
   * last {@link #advance}. Without active emitters it is the current time, so that no window stays open.
   */
  long arrivedNs() {
    return arrivedNs;
  }

  /**
   * Returns the event time that has passed, in nanoseconds since the Unix epoch, as of the last {@link #advance}:
   * events from long before it are late. Without active emitters it advances at the broker's pace instead of jumping to
   * the present: otherwise old events that are read again would all be late.
   */
  long passedNs() {
    return passedNs;
  }

  void observe(Progress progress) {
    long lead = Math.max(progress.newestNs(), 0) - progress.brokerTimeMs() * NS_PER_MS;
    isSaved &= lead <= leadNs;
    leadNs = Math.max(leadNs, lead);
    if (progress.isFinal()) {
      active.remove(progress.emitter());
    } else {
      Reached reached = new Reached(progress.newestNs(), progress.brokerTimeMs());
      active.merge(progress.emitter(), reached, Reached::later);
    }
    changed.add(progress.emitter());
  }

  /**
   * Advances both times.
   *
   * @param isComplete whether no source can still deliver events older than those already read
   */
  void advance(long nowMs, boolean isComplete) {
    Set<RouteKey> idle = new HashSet<>();
    active.forEach(
        (emitter, reached) -> {
          if (isIdle(reached, nowMs)) {
            idle.add(emitter);
          }
        });
    active.keySet().removeAll(idle);
    changed.addAll(idle);
    long nowNs = nowMs * NS_PER_MS;
    long least = leastNs(nowMs);
    arrive(Math.min(least, nowNs + Math.max(leadNs, 0)));
    if (isComplete && leadNs != Long.MIN_VALUE) {
      pass(Math.min(least, nowNs + Math.min(leadNs, 0)));
    }
  }

  /** Returns what {@link #arrivedNs} would be after {@link #advance} with this time. */
  long arrivingNs(long nowMs) {
    return Math.max(arrivedNs, Math.min(leastNs(nowMs), nowMs * NS_PER_MS + Math.max(leadNs, 0)));
  }

  private long leastNs(long nowMs) {
    return active.values().stream()
        .filter(reached -> !isIdle(reached, nowMs))
        .mapToLong(Reached::newestNs)
        .min()
        .orElse(Long.MAX_VALUE);
  }

  private boolean isIdle(Reached reached, long nowMs) {
    return nowMs - reached.brokerTimeMs() >= idleMs;
  }

  private void arrive(long ns) {
    isSaved &= ns <= arrivedNs;
    arrivedNs = Math.max(arrivedNs, ns);
  }

  private void pass(long ns) {
    isSaved &= ns <= passedNs;
    passedNs = Math.max(passedNs, ns);
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
    if (!isSaved) {
      state.put(KEY, new StateWriter().version(2).fixed64(arrivedNs).fixed64(passedNs).fixed64(leadNs).toBytes());
      isSaved = true;
    }
  }
}
