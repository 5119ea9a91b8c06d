package io.lifeline.console.index;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import java.util.Comparator;

/**
 * The order in which objects pass the event types. Types are sorted by the mean place that they have in the paths of
 * objects, from 0 for the first event to 1 for the last; then neighbours change places as long as most objects pass
 * them the other way round, which puts types right that few objects pass. Types without objects follow, by name.
 */
public final class StageOrder {
  private static final int MOST_OBJECTS = 2000;
  /** With very many types, so that few are not passed by any of them. */
  private static final int OBJECTS_PER_TYPE = 4;
  /** With more types, each would be compared with too many others. */
  private static final int MOST_TO_COMPARE = 500;
  private static final int LONGEST_PATH = 100;

  private final Snapshot snapshot;
  private final double[] places;
  private final int[] counts;
  /** How often the first type of a pair comes before the second one. */
  private final Long2IntOpenHashMap before = new Long2IntOpenHashMap();

  private StageOrder(Snapshot snapshot) {
    this.snapshot = snapshot;
    this.places = new double[snapshot.kinds().size()];
    this.counts = new int[places.length];
  }

  /** Returns the numbers of all types in their order. */
  public static IntList of(Snapshot snapshot) {
    return new StageOrder(snapshot).sorted();
  }

  private IntList sorted() {
    int end = snapshot.objects.end();
    int step = Math.max(1, end / Math.max(MOST_OBJECTS, OBJECTS_PER_TYPE * places.length));
    for (int object = 0; object < end; object += step) {
      if (snapshot.exists(object)) {
        count(snapshot.path(object));
      }
    }
    IntList order = new IntArrayList();
    for (int kind = 0; kind < places.length; kind++) {
      order.add(kind);
      places[kind] = counts[kind] == 0 ? 2 : places[kind] / counts[kind];
    }
    order.sort(Comparator.comparingDouble((Integer kind) -> places[kind])
        .thenComparing(kind -> snapshot.kinds().get(kind).name())::compare);
    if (order.size() <= MOST_TO_COMPARE) {
      correct(order);
    }
    return order;
  }

  private void count(int[] path) {
    for (int i = 0; i < path.length && path.length > 1; i++) {
      int kind = snapshot.events.type(path[i]);
      places[kind] += i / (double) (path.length - 1);
      counts[kind]++;
      for (int j = i + 1; places.length <= MOST_TO_COMPARE && j < Math.min(path.length, LONGEST_PATH); j++) {
        before.addTo(BlockSummary.pair(kind, snapshot.events.type(path[j])), 1);
      }
    }
  }

  /** Moves each type up past those that most objects pass after it. */
  private void correct(IntList order) {
    for (int i = 1; i < order.size(); i++) {
      for (int j = i; j > 0 && isBefore(order.getInt(j), order.getInt(j - 1)); j--) {
        order.set(j, order.set(j - 1, order.getInt(j)));
      }
    }
  }

  private boolean isBefore(int kind, int other) {
    return before.get(BlockSummary.pair(kind, other)) > before.get(BlockSummary.pair(other, kind));
  }
}
