package io.lifeline.console.index;

import java.util.TreeMap;
import java.util.function.IntPredicate;

/** Counts all events of a span, by type and part of the time axis. */
public final class Density {
  private Density() {}

  /**
   * Returns the counts of each type that occurs, one per part.
   *
   * @param origin the emitters whose events count; null for all
   */
  public static TreeMap<Integer, int[]> of(Snapshot snapshot, Span span, IntPredicate origin, int parts) {
    TreeMap<Integer, int[]> counts = new TreeMap<>();
    IntPredicate accepted = origin == null ? any -> true : origin;
    for (int number = 0; number < snapshot.blocks.size(); number++) {
      BlockSummary block = snapshot.blocks.get(number);
      if (!block.hasEventsIn(span.from(), span.to())) {
        continue;
      }
      boolean inside = block.minTime() >= span.from() && block.maxTime() <= span.to();
      if (origin == null && inside && span.part(block.minTime(), parts) == span.part(block.maxTime(), parts)) {
        int part = span.part(block.minTime(), parts);
        for (int i = 0; i < block.types().length; i++) {
          counts.computeIfAbsent(block.types()[i], any -> new int[parts])[part] += block.counts()[i];
        }
      } else {
        snapshot.forEachIn(number, span, accepted, (event, time) ->
            counts.computeIfAbsent(snapshot.events.type(event), any -> new int[parts])[span.part(time, parts)]++);
      }
    }
    return counts;
  }
}
