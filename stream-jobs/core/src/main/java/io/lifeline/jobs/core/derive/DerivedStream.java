package io.lifeline.jobs.core.derive;

import io.lifeline.codec.BatchHeader;
import io.lifeline.codec.BatchReader;
import io.lifeline.codec.BatchTooLargeException;
import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.Counter;
import io.lifeline.codec.Parent;
import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Output;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.RetiredRoutes;
import io.lifeline.jobs.core.RouteKey;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * A stream of batches derived from other batches. Every route of every emitter becomes a derived route with its own
 * incarnation, sequences and counters, so that readers treat it like the route of any emitter, and report events lost
 * after this point as missing (FORMAT section 3.5).
 *
 * <p>Parents from which nothing is derived usually cost no message: their events are counted in the next batch's {@code
 * events_in}. A batch without events is sent only for the last parent and those that come late, from a spool, and as a
 * heartbeat.
 *
 * <p>The output depends only on the input. Used by one thread.
 */
public final class DerivedStream {

  /** Writes a range of the events derived from a parent. */
  @FunctionalInterface
  public interface Events {
    /**
     * Returns a writer with the events {@code from} (inclusive) to {@code to} (exclusive) and with emitter and clock.
     *
     * @throws BatchTooLargeException if one batch cannot hold them
     */
    BatchWriter write(int from, int to);
  }

  /** What happened to the parents' events that are not in the stream; selects the counter that reports them. */
  public enum Rest {
    /** They did not meet a condition. */
    LEFT_OUT,
    /** Pairs of them became one event each. */
    FOLDED
  }

  /** Readers consider an emitter lost after a minute of silence. */
  private static final long HEARTBEAT_MS = 10_000;

  private static final long FORGET_INTERVAL_MS = 60_000;

  /**
   * Maximum number of splits per parent, of batches that are too large. A few suffice, unless the parent's header
   * leaves no room for events: it must not be copied once per event.
   */
  private static final int MAX_SPLITS = 64;

  private static final int LAST = BatchHeader.FINAL | BatchHeader.RECOVERED;

  private final String name;
  private final String recipe;
  private final Rest rest;
  private final KeyedState state;
  private final String prefix;
  private final long retentionMs;
  private final RetiredRoutes retired;
  private final Destination destination;
  private final Metrics.Counter in;
  private final Metrics.Counter out;
  private final Map<RouteKey, DerivedRoute> routes = new HashMap<>();
  private final Set<RouteKey> changed = new HashSet<>();
  private final Set<RouteKey> heard = new HashSet<>();

  private long nextForgetMs;
  private long forgetMs;

  /** Number of splits for the current parent. */
  private int splits;

  /**
   * @param name name of the stream and of its routes
   * @param recipe everything that determines what is derived from a parent; if it changes, routes start anew
   * @param state where {@link #save} stores the routes, under {@code derive/NAME/} and as retired ones
   * @param retentionMs an emitter that is silent for twice this time is forgotten
   */
  public DerivedStream(
      String name, String recipe, Rest rest, KeyedState state, long retentionMs, Metrics metrics) {
    this.name = name;
    this.recipe = recipe;
    this.rest = rest;
    this.state = state;
    this.prefix = "derive/" + name + "/";
    this.retentionMs = retentionMs;
    this.retired = new RetiredRoutes(state, "derive/" + name, 2 * retentionMs);
    this.destination = Destination.derived(name);
    this.in = metrics.counter("lifeline_derived_in_total", "Input events of a derived stream.", "stream", name);
    this.out = metrics.counter("lifeline_derived_out_total", "Events of a derived stream.", "stream", name);
    state.scan(
        prefix,
        (key, value) -> {
          RouteKey parent = RouteKey.parse(key.substring(prefix.length()));
          routes.put(parent, DerivedRoute.decode(name, recipe, parent, value));
        });
  }

  /**
   * Counts a parent, and sends the events derived from it.
   *
   * @param count number of derived events
   */
  public void derive(BatchReader parent, Position position, int count, Events events, Output output) {
    RouteKey key = RouteKey.of(parent);
    DerivedRoute route = routes.computeIfAbsent(key, k -> retiredOrNew(k, parent.sequence(), position));
    retired.keep(key);
    changed.add(key);
    heard.add(key);
    route.eventsInSinceSent += parent.eventCount();
    route.leftOut += rest == Rest.LEFT_OUT ? parent.eventCount() - count : 0;
    route.lastFlags |= parent.flags() & LAST;
    in.add(parent.eventCount());
    if (count > 0 || route.lastFlags != 0 || position.brokerTimeMs() - route.sentMs >= HEARTBEAT_MS) {
      splits = 0;
      send(parent, route, 0, count, events, output);
      route.sentMs = position.brokerTimeMs();
    }
  }

  private DerivedRoute retiredOrNew(RouteKey parent, long sequence, Position position) {
    byte[] value = retired.get(parent);
    if (value != null) {
      DerivedRoute route = DerivedRoute.decode(name, recipe, parent, value);
      route.heardMs = 0; // the next forget() sets it, also after a restart
      return route;
    }
    DerivedRoute route = DerivedRoute.of(name, recipe, parent, sequence);
    route.sentMs = position.brokerTimeMs();
    return route;
  }

  /**
   * Forgets emitters that have been silent for twice the retention time: later batches of theirs get a new route. The
   * next {@link #save} retires those that have ended or are idle.
   *
   * @param nowMs see {@link io.lifeline.jobs.core.RetentionClock}
   */
  public void forget(long nowMs) {
    if (nowMs < nextForgetMs) {
      return;
    }
    nextForgetMs = nowMs + FORGET_INTERVAL_MS;
    forgetMs = nowMs;
    retired.expire(nowMs);
    for (RouteKey key : heard) {
      routes.get(key).heardMs = nowMs;
      changed.add(key);
    }
    heard.clear();
    routes
        .entrySet()
        .removeIf(
            entry -> {
              DerivedRoute route = entry.getValue();
              route.heardMs = route.heardMs == 0 ? nowMs : route.heardMs;
              long silentMs = nowMs - route.heardMs;
              boolean silent = silentMs > 2 * retentionMs;
              if (silent) {
                changed.add(entry.getKey());
                retired.keep(entry.getKey());
              } else if (silentMs > (route.lastFlags != 0 ? FORGET_INTERVAL_MS : RetiredRoutes.IDLE_MS)) {
                retired.due(entry.getKey());
              }
              return silent;
            });
  }

  /** Writes changes since the last call to the state. */
  public void save() {
    retired.save(this::remove, forgetMs);
    for (RouteKey key : changed) {
      DerivedRoute route = routes.get(key);
      if (route == null) {
        state.delete(prefix + key);
      } else {
        state.put(prefix + key, route.encode());
      }
    }
    changed.clear();
  }

  private byte[] remove(RouteKey key) {
    changed.add(key);
    return routes.remove(key).encode();
  }

  /** Sends events as one batch, or as several if one cannot hold them. */
  private void send(BatchReader parent, DerivedRoute route, int from, int to, Events events, Output output) {
    byte[] batch;
    try {
      batch = batch(parent, route, from, to, events);
    } catch (BatchTooLargeException e) {
      if (to - from > 1 && splits < MAX_SPLITS) {
        splits++;
        int middle = (from + to) >>> 1;
        send(parent, route, from, middle, events, output);
        send(parent, route, middle, to, events, output);
      } else {
        // The next batch counts them as dropped. If the header alone is too large, there is none.
        route.eventsOut += to - from;
        route.oversize += to - from;
      }
      return;
    }
    route.sequence++;
    route.eventsOut += to - from;
    route.eventsInSinceSent = 0;
    out.add(to - from);
    String key = route.incarnation.toString();
    String id = key + "-" + parent.route() + "-" + Long.toUnsignedString(route.sequence);
    output.send(destination, key, id, batch);
  }

  private byte[] batch(BatchReader parent, DerivedRoute route, int from, int to, Events events) {
    long eventsOut = route.eventsOut + to - from;
    BatchWriter writer =
        events
            .write(from, to)
            .incarnation(route.incarnation)
            .sequence(route.sequence + 1)
            .route(parent.route(), name)
            .flags(parent.flags() & BatchHeader.CLOCK_UNCERTAIN | route.lastFlags)
            .counter(Counter.EMITTED, eventsOut)
            .counter(Counter.DROPPED_OVERSIZE, route.oversize)
            .parent(
                new Parent(
                    parent.incarnation(), parent.sequence(), parent.route(), route.eventsInSinceSent, to - from));
    return switch (rest) {
      case LEFT_OUT -> writer.counter(Counter.BELOW_THRESHOLD, route.leftOut).toByteArray();
      case FOLDED -> writer.counter(Counter.FOLDED, 2 * eventsOut).toByteArray();
    };
  }
}
