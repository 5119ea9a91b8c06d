package io.lifeline.console.index;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntList;
import java.util.Comparator;

/**
 * The order in which objects pass the event types: by the mean place that a type has in the paths of objects, from 0
 * for the first event to 1 for the last. Types without objects follow, by name.
 */
public final class StageOrder {
  private static final int MOST_OBJECTS = 2000;

  private StageOrder() {}

  /** Returns the numbers of all types in their order. */
  public static IntList of(Snapshot snapshot) {
    double[] places = new double[snapshot.kinds().size()];
    int[] counts = new int[places.length];
    int end = snapshot.objects.end();
    int step = Math.max(1, end / MOST_OBJECTS);
    for (int object = 0; object < end; object += step) {
      if (!snapshot.exists(object)) {
        continue;
      }
      int[] path = snapshot.path(object);
      for (int i = 0; i < path.length && path.length > 1; i++) {
        int kind = snapshot.events.type(path[i]);
        places[kind] += i / (double) (path.length - 1);
        counts[kind]++;
      }
    }
    IntList order = new IntArrayList();
    for (int kind = 0; kind < places.length; kind++) {
      order.add(kind);
      places[kind] = counts[kind] == 0 ? 2 : places[kind] / counts[kind];
    }
    order.sort(Comparator.comparingDouble((Integer kind) -> places[kind])
        .thenComparing(kind -> snapshot.kinds().get(kind).name())::compare);
    return order;
  }
}
