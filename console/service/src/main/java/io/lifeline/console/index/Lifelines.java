package io.lifeline.console.index;

import it.unimi.dsi.fastutil.ints.IntOpenHashSet;
import it.unimi.dsi.fastutil.ints.IntSet;
import it.unimi.dsi.fastutil.longs.Long2ObjectMap;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.Arrays;
import java.util.function.IntPredicate;
import java.util.function.IntToLongFunction;

/**
 * Chooses the objects whose lifelines represent a span: all of them, if they are few. Otherwise the time axis is cut
 * into parts, and of each kind of step the slowest and the fastest one that ends in each part is chosen, and the
 * slowest whole object. So no outlier is hidden, however many objects there are: the slowest step of the span is that
 * of one part.
 */
public final class Lifelines {
  /** Up to so many blocks, each event is looked at. */
  private static final int BLOCKS_TO_SCAN = 256;
  private static final int MOST_PARTS = 512;
  /** Bounds the memory, if thousands of types occur. */
  private static final int MOST_CELLS = 1 << 20;
  private static final long WHOLE = -1;
  private static final long OTHERS = -2;

  /** The extreme steps of one kind in each part. */
  private static final class Extremes {
    final int[] slowest;
    final int[] fastest;

    Extremes(int parts) {
      slowest = new int[parts];
      fastest = new int[parts];
      Arrays.fill(slowest, EventColumns.NONE);
      Arrays.fill(fastest, EventColumns.NONE);
    }
  }

  private final Snapshot snapshot;
  private final Span span;
  private final IntPredicate origin;
  private final int most;
  private final int parts;
  private final Long2ObjectMap<Extremes> steps = new Long2ObjectOpenHashMap<>();
  private final IntOpenHashSet all = new IntOpenHashSet();
  private boolean allFit = true;

  private Lifelines(Snapshot snapshot, Span span, IntPredicate origin, int most) {
    this.snapshot = snapshot;
    this.span = span;
    this.origin = origin;
    this.most = most;
    this.parts = Math.max(1, Math.min(MOST_PARTS, most));
  }

  /**
   * Returns objects of which a step lies in the span or crosses it.
   *
   * @param origin the emitters whose events count; null for all
   * @param most about how many objects to choose
   */
  public static Choice choose(Snapshot snapshot, Span span, IntPredicate origin, int most) {
    return new Lifelines(snapshot, span, origin == null ? any -> true : origin, most).choose(origin != null);
  }

  /**
   * The result.
   *
   * @param objects in the order of their numbers
   * @param complete whether these are all objects of the span
   */
  public record Choice(int[] objects, boolean complete) {}

  private Choice choose(boolean filtered) {
    int overlapping = 0;
    for (BlockSummary block : snapshot.blocks) {
      overlapping += block.hasStepsIn(span.from(), span.to()) ? 1 : 0;
    }
    boolean scan = filtered || overlapping <= BLOCKS_TO_SCAN;
    allFit = scan;
    for (int block = 0; block < snapshot.blocks.size(); block++) {
      BlockSummary summary = snapshot.blocks.get(block);
      if (!summary.hasStepsIn(span.from(), span.to())) {
        continue;
      }
      // Of a block at an edge of the span, the extremes may lie outside and hide those inside.
      boolean inside = summary.minStart() >= span.from() && summary.maxTime() <= span.to();
      if (scan || !inside) {
        scan(block);
      } else {
        take(summary);
      }
    }
    IntSet chosen = allFit ? all : extremes();
    int[] objects = chosen.toIntArray();
    Arrays.sort(objects);
    return new Choice(objects, allFit);
  }

  private void scan(int block) {
    EventColumns events = snapshot.events;
    int end = Math.min(events.end(), (block + 1) * BlockSummary.EVENTS);
    for (int event = block * BlockSummary.EVENTS; event < end; event++) {
      if (events.type(event) != EventColumns.NONE && events.object(event) != EventColumns.NONE
          && origin.test(events.emitter(event))) {
        offer(event);
      }
    }
  }

  private void take(BlockSummary summary) {
    for (int i = 0; i < summary.pairs().length; i++) {
      offerStep(summary.pairs()[i], summary.slowest()[i]);
      offerStep(summary.pairs()[i], summary.fastest()[i]);
    }
    if (summary.slowestWhole() != EventColumns.NONE) {
      offerWhole(summary.slowestWhole());
    }
  }

  private void offer(int event) {
    EventColumns events = snapshot.events;
    int previous = events.previous(event);
    long time = events.time(event);
    long start = previous == EventColumns.NONE ? time : events.time(previous);
    if (start > span.to() || time < span.from()) {
      return;
    }
    if (allFit && all.add(events.object(event)) && all.size() > most) {
      allFit = false;
    }
    if (previous != EventColumns.NONE) {
      offerStep(BlockSummary.pair(events.type(previous), events.type(event)), event);
    }
    offerWhole(event);
  }

  private void offerStep(long pair, int step) {
    Extremes extremes = of(pair);
    int part = part(step);
    int slowest = extremes.slowest[part];
    if (slowest == EventColumns.NONE || duration(step) > duration(slowest)) {
      extremes.slowest[part] = step;
    }
    int fastest = extremes.fastest[part];
    if (fastest == EventColumns.NONE || duration(step) < duration(fastest)) {
      extremes.fastest[part] = step;
    }
  }

  private void offerWhole(int event) {
    Extremes extremes = of(WHOLE);
    int part = part(event);
    int slowest = extremes.slowest[part];
    if (slowest == EventColumns.NONE || sinceFirst(event) > sinceFirst(slowest)) {
      extremes.slowest[part] = event;
    }
  }

  private long duration(int step) {
    return BlockSummary.duration(snapshot.events, step);
  }

  private long sinceFirst(int event) {
    return snapshot.events.time(event) - snapshot.objects.firstTime(snapshot.events.object(event));
  }

  private Extremes of(long pair) {
    Extremes extremes = steps.get(pair);
    if (extremes == null) {
      // Beyond the bound all further kinds share one place: their slowest still survives.
      long key = (long) steps.size() * parts < MOST_CELLS ? pair : OTHERS;
      extremes = steps.computeIfAbsent(key, any -> new Extremes(parts));
    }
    return extremes;
  }

  /** A step that crosses the whole span belongs to the last part. */
  private int part(int event) {
    return span.part(Math.min(snapshot.events.time(event), span.to()), parts);
  }

  /** Joins parts until few enough objects are left; the slowest of each kind remain in any case. */
  private IntSet extremes() {
    for (int width = 1; ; width *= 2) {
      IntSet objects = new IntOpenHashSet();
      for (Long2ObjectMap.Entry<Extremes> entry : steps.long2ObjectEntrySet()) {
        IntToLongFunction measure = entry.getLongKey() == WHOLE ? this::sinceFirst : this::duration;
        for (int part = 0; part < parts; part += width) {
          add(objects, highest(entry.getValue().slowest, part, width, measure));
          add(objects, highest(entry.getValue().fastest, part, width, event -> -measure.applyAsLong(event)));
        }
      }
      if (objects.size() <= most || width >= parts) {
        return objects;
      }
    }
  }

  private void add(IntSet objects, int event) {
    if (event != EventColumns.NONE) {
      objects.add(snapshot.events.object(event));
    }
  }

  private static int highest(int[] candidates, int first, int width, IntToLongFunction measure) {
    int best = EventColumns.NONE;
    for (int i = first; i < Math.min(first + width, candidates.length); i++) {
      int event = candidates[i];
      if (event != EventColumns.NONE
          && (best == EventColumns.NONE || measure.applyAsLong(event) > measure.applyAsLong(best))) {
        best = event;
      }
    }
    return best;
  }
}
