package io.lifeline.jobs.cli.tail;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.Counter;
import io.lifeline.jobs.core.RouteKey;
import io.lifeline.jobs.core.Terminal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Finds what emitters have dropped, and which batches are missing, from the first one on that was read of a route. */
final class Losses {
  /** Batches that an emitter spooled come behind later ones. */
  private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(5);
  private static final int MAX_ROUTES = 100_000;
  private static final List<Counter> DROPPED =
      Arrays.stream(Counter.values()).filter(counter -> counter.label().startsWith("dropped_")).toList();

  private static final class Route {
    private final String name;
    private final long first;
    private final long[] droppedSaid = new long[DROPPED.size()];
    private final long[] dropped = new long[DROPPED.size()];
    private long last;
    private long received = 1;
    private long missingSaid;
    private long changedNs;

    Route(BatchReader batch) {
      name = Terminal.printable(batch.program() + " on " + batch.host()) + ", pid " + batch.pid();
      first = batch.sequence();
      last = first;
      readDropped(batch);
      if (first != 1) { // what was dropped before is no news
        System.arraycopy(dropped, 0, droppedSaid, 0, dropped.length);
      }
    }

    void readDropped(BatchReader batch) {
      for (int i = 0; i < dropped.length; i++) {
        dropped[i] = batch.counter(DROPPED.get(i));
      }
    }

    long missing() {
      return last - first + 1 - received;
    }
  }

  private final Map<RouteKey, Route> routes = new LinkedHashMap<>(16, 0.75f, true) {
    @Override
    protected boolean removeEldestEntry(Map.Entry<RouteKey, Route> eldest) {
      return size() > MAX_ROUTES;
    }
  };
  /** Routes with something to say. */
  private final Set<Route> changed = new LinkedHashSet<>();
  private long missing;
  private long dropped;

  /** Takes a batch that was not seen before. */
  void add(BatchReader batch, long nowNs) {
    RouteKey key = RouteKey.of(batch);
    Route route = routes.get(key);
    if (route == null) {
      route = new Route(batch);
      routes.put(key, route);
    } else if (batch.sequence() - route.first < 0) {
      return; // spooled before this reader began
    } else {
      missing -= route.missing();
      route.received++;
      if (batch.sequence() - route.last > 0) {
        route.last = batch.sequence();
        route.readDropped(batch);
      }
      missing += route.missing();
    }
    boolean isNews = route.missing() != route.missingSaid || !Arrays.equals(route.dropped, route.droppedSaid);
    if (isNews && changed.add(route)) {
      route.changedNs = nowNs;
    }
  }

  /** Says what is lost and was not said before. */
  void report(long nowNs, Consumer<String> say) {
    for (Route route : List.copyOf(changed)) {
      reportDropped(route, say);
      if (route.missing() == route.missingSaid) {
        changed.remove(route);
      } else if (nowNs - route.changedNs >= PATIENCE_NS) {
        changed.remove(route);
        say.accept(missing(route));
        route.missingSaid = route.missing();
      }
    }
  }

  private void reportDropped(Route route, Consumer<String> say) {
    List<String> reasons = new ArrayList<>();
    long sum = 0;
    for (int i = 0; i < route.dropped.length; i++) {
      long more = route.dropped[i] - route.droppedSaid[i];
      if (more > 0) {
        reasons.add(DROPPED.get(i).label().replace("dropped_", "") + "=" + more);
        sum += more;
      }
      route.droppedSaid[i] = route.dropped[i];
    }
    if (sum > 0) {
      dropped += sum;
      say.accept(route.name + ": the emitter dropped " + sum + " events: " + String.join(" ", reasons));
    }
  }

  private static String missing(Route route) {
    return route.missing() == 0
        ? route.name + ": the missing batches have arrived"
        : route.name + ": " + route.missing() + " batches up to sequence " + Long.toUnsignedString(route.last)
            + " are missing: still in the emitter's spool, or lost";
  }

  /** Returns the number of missing batches. */
  long missing() {
    return missing;
  }

  /** Returns the number of events that emitters have dropped, as far as reported. */
  long dropped() {
    return dropped;
  }
}
