package io.lifeline.console.feed;

import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.core.RouteKey;
import io.lifeline.jobs.core.SequenceSet;
import java.util.HashMap;
import java.util.Map;

/**
 * The batches whose events are in the index already: what the archive holds arrives at the broker, too, and a broker
 * may deliver a batch again. Used by one thread at a time.
 */
final class SeenBatches {
  private final Map<RouteKey, SequenceSet> seen = new HashMap<>();
  private RouteKey lastKey;
  private long lastSequence;

  /** Adds a batch; returns false if it was there. */
  boolean add(Incarnation incarnation, int route, long sequence) {
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
