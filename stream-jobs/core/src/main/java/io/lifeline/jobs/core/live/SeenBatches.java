package io.lifeline.jobs.core.live;

import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.core.RouteKey;
import io.lifeline.jobs.core.SequenceSet;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The batches that a reader without a position has seen: what an archive holds arrives at the broker, too, and a broker
 * may deliver a batch again. Used by one thread at a time.
 */
public final class SeenBatches {
  private static final int MAX_ROUTES = 1_000_000;

  private final int maxRoutes;
  /** The routes, longest silent first. */
  private final Map<RouteKey, SequenceSet> seen = new LinkedHashMap<>(16, 0.75f, true) {
    @Override
    protected boolean removeEldestEntry(Map.Entry<RouteKey, SequenceSet> eldest) {
      return size() > maxRoutes;
    }
  };
  private RouteKey lastKey;
  private long lastSequence;

  public SeenBatches() {
    this(MAX_ROUTES);
  }

  /** @param maxRoutes how many routes to remember; beyond that, those that were silent longest are forgotten */
  SeenBatches(int maxRoutes) {
    this.maxRoutes = maxRoutes;
  }

  /** Adds a batch; returns false if it was there. */
  public boolean add(Incarnation incarnation, int route, long sequence) {
    // The events of a batch mostly follow one another.
    if (lastKey != null && sequence == lastSequence && route == lastKey.route()
        && incarnation.equals(lastKey.incarnation())) {
      return false;
    }
    lastKey = new RouteKey(incarnation, route);
    lastSequence = sequence;
    return seen.computeIfAbsent(lastKey, key -> new SequenceSet()).add(sequence);
  }
}
