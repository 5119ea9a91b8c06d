package io.lifeline.console.index;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;

/** Where the time of objects goes: the steps that end in a span, by the types of their two events. */
public final class Steps {
  /**
   * All steps of one kind.
   *
   * @param totalNs sum of their durations
   * @param slowest the event at the end of the slowest one
   */
  public record Kind(int from, int to, long count, double totalNs, long maxNs, int slowest) {
    private Kind plus(long more, double total, long max, int event) {
      return new Kind(from, to, count + more, totalNs + total, Math.max(maxNs, max), max > maxNs ? event : slowest);
    }
  }

  private Steps() {}

  /**
   * Returns the kinds, the one with the greatest total first.
   *
   * @param origin the emitters whose events count; null for all
   */
  public static List<Kind> of(Snapshot snapshot, Span span, IntPredicate origin) {
    Map<Long, Kind> kinds = new HashMap<>();
    for (int number = 0; number < snapshot.blocks.size(); number++) {
      BlockSummary block = snapshot.blocks.get(number);
      if (!block.hasEventsIn(span.from(), span.to())) {
        continue;
      }
      if (origin == null && block.minTime() >= span.from() && block.maxTime() <= span.to()) {
        for (int i = 0; i < block.pairs().length; i++) {
          add(kinds, block.pairs()[i], block.steps()[i], block.totals()[i], snapshot, block.slowest()[i]);
        }
      } else {
        snapshot.forEachIn(number, span, origin == null ? any -> true : origin, (event, time) -> {
          int previous = snapshot.events.object(event) == EventColumns.NONE
              ? EventColumns.NONE : snapshot.events.previous(event);
          if (previous != EventColumns.NONE) {
            long pair = BlockSummary.pair(snapshot.events.type(previous), snapshot.events.type(event));
            add(kinds, pair, 1, time - snapshot.events.time(previous), snapshot, event);
          }
        });
      }
    }
    List<Kind> sorted = new ArrayList<>(kinds.values());
    sorted.sort(Comparator.comparingDouble(Kind::totalNs).reversed());
    return sorted;
  }

  private static void add(Map<Long, Kind> kinds, long pair, long count, double total, Snapshot snapshot, int slowest) {
    long max = BlockSummary.duration(snapshot.events, slowest);
    Kind known = kinds.get(pair);
    kinds.put(pair, known == null ? new Kind((int) (pair >> 32), (int) pair, count, total, max, slowest)
        : known.plus(count, total, max, slowest));
  }
}
