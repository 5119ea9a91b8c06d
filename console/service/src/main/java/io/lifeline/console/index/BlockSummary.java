package io.lifeline.console.index;

import it.unimi.dsi.fastutil.ints.Int2IntOpenHashMap;
import it.unimi.dsi.fastutil.longs.Long2DoubleOpenHashMap;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;

/**
 * What is known of a block of {@value #EVENTS} consecutive events, so that pictures of many blocks need not look at
 * each event: how many there are of each type, and the slowest and the fastest of each step.
 *
 * <p>A step is an event with the one before it of the same object. It is stored as its event.
 *
 * @param minTime of the events; {@link Long#MAX_VALUE} if there is none
 * @param maxTime of the events
 * @param minStart beginning of the earliest step that ends in this block
 * @param types the types that occur, with their {@code counts}
 * @param pairs the kinds of steps, as {@link #pair}, with the number, the total duration in nanoseconds, the
 *     {@code slowest} and the {@code fastest} of each
 * @param slowestWhole the event that is furthest from its object's first one; {@link EventColumns#NONE} if none
 */
record BlockSummary(long minTime, long maxTime, long minStart, int[] types, int[] counts, long[] pairs, int[] steps,
    double[] totals, int[] slowest, int[] fastest, int slowestWhole) {
  static final int EVENTS = 1024;

  /** Returns the kind of a step. */
  static long pair(int fromType, int toType) {
    return (long) fromType << 32 | toType;
  }

  static BlockSummary of(EventColumns events, ObjectTable objects, int block) {
    long minTime = Long.MAX_VALUE;
    long maxTime = Long.MIN_VALUE;
    long minStart = Long.MAX_VALUE;
    Int2IntOpenHashMap counts = new Int2IntOpenHashMap();
    Long2IntOpenHashMap slowest = new Long2IntOpenHashMap();
    Long2IntOpenHashMap fastest = new Long2IntOpenHashMap();
    slowest.defaultReturnValue(EventColumns.NONE);
    Long2IntOpenHashMap steps = new Long2IntOpenHashMap();
    Long2DoubleOpenHashMap totals = new Long2DoubleOpenHashMap();
    int slowestWhole = EventColumns.NONE;
    long whole = -1;
    int end = Math.min(events.end(), (block + 1) * EVENTS);
    for (int event = block * EVENTS; event < end; event++) {
      int type = events.type(event);
      if (type == EventColumns.NONE) {
        continue;
      }
      long time = events.time(event);
      minTime = Math.min(minTime, time);
      maxTime = Math.max(maxTime, time);
      counts.addTo(type, 1);
      int object = events.object(event);
      if (object == EventColumns.NONE) {
        continue;
      }
      if (time - objects.firstTime(object) > whole) {
        whole = time - objects.firstTime(object);
        slowestWhole = event;
      }
      int previous = events.previous(event);
      if (previous == EventColumns.NONE) {
        continue;
      }
      long start = events.time(previous);
      minStart = Math.min(minStart, start);
      long pair = pair(events.type(previous), type);
      steps.addTo(pair, 1);
      totals.addTo(pair, time - start);
      int before = slowest.get(pair);
      if (before == EventColumns.NONE) {
        slowest.put(pair, event);
        fastest.put(pair, event);
      } else {
        if (time - start > duration(events, before)) {
          slowest.put(pair, event);
        }
        if (time - start < duration(events, fastest.get(pair))) {
          fastest.put(pair, event);
        }
      }
    }
    int[] types = counts.keySet().toIntArray();
    long[] pairs = slowest.keySet().toLongArray();
    int[] typeCounts = new int[types.length];
    for (int i = 0; i < types.length; i++) {
      typeCounts[i] = counts.get(types[i]);
    }
    int[] stepCounts = new int[pairs.length];
    double[] stepTotals = new double[pairs.length];
    int[] slow = new int[pairs.length];
    int[] fast = new int[pairs.length];
    for (int i = 0; i < pairs.length; i++) {
      stepCounts[i] = steps.get(pairs[i]);
      stepTotals[i] = totals.get(pairs[i]);
      slow[i] = slowest.get(pairs[i]);
      fast[i] = fastest.get(pairs[i]);
    }
    return new BlockSummary(minTime, maxTime, Math.min(minStart, minTime), types, typeCounts, pairs, stepCounts,
        stepTotals, slow, fast, slowestWhole);
  }

  /** Returns the duration of a step. */
  static long duration(EventColumns events, int step) {
    return events.time(step) - events.time(events.previous(step));
  }

  boolean hasEventsIn(long from, long to) {
    return minTime <= to && maxTime >= from;
  }

  /** Returns whether a step may be visible between these times, also one that only crosses them. */
  boolean hasStepsIn(long from, long to) {
    return minStart <= to && maxTime >= from;
  }
}
