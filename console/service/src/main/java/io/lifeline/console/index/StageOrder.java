package io.lifeline.console.index;

import it.unimi.dsi.fastutil.ints.Int2ObjectLinkedOpenHashMap;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntLinkedOpenHashSet;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.ints.IntSet;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import java.util.Arrays;
import java.util.Comparator;

/**
 * The order in which objects pass the event types, group by group: types that objects pass one after the other are a
 * group, but not those of unrelated programs. Groups are sorted by their programs, then by their first types.
 *
 * <p>In a group types are sorted by the mean place that they have in the paths of objects, from 0 for the first event
 * to 1 for the last; then neighbours change places as long as most objects pass them the other way round, which puts
 * types right that few objects pass. Types without objects follow those of their program that have some, by name.
 */
public final class StageOrder {
  private static final int MOST_OBJECTS = 2000;
  /** With very many types, so that few are not passed by any of them. */
  private static final int OBJECTS_PER_TYPE = 4;
  /** With more types, each would be compared with too many others. */
  private static final int MOST_TO_COMPARE = 500;
  private static final int LONGEST_PATH = 100;

  private final Snapshot snapshot;
  private final RelatedPrograms programs;
  private final DisjointSets groups;
  private final double[] places;
  private final int[] counts;
  /** How often the first type of a pair comes before the second one. */
  private final Long2IntOpenHashMap before = new Long2IntOpenHashMap();

  private StageOrder(Snapshot snapshot) {
    this.snapshot = snapshot;
    this.programs = new RelatedPrograms(snapshot);
    this.places = new double[snapshot.kinds().size()];
    this.counts = new int[places.length];
    this.groups = new DisjointSets(places.length);
  }

  /** Returns the numbers of all types in their order. */
  public static IntList of(Snapshot snapshot) {
    return new StageOrder(snapshot).sorted();
  }

  private IntList sorted() {
    IntSet sample = sample();
    if (programs.count() > 1) {
      sample.forEach(object -> programs.add(snapshot.path(object)));
      programs.relate();
    }
    sample.forEach(object -> count(snapshot.path(object)));
    IntList order = new IntArrayList();
    for (int kind = 0; kind < places.length; kind++) {
      order.add(kind);
      places[kind] = counts[kind] == 0 ? 2 : places[kind] / counts[kind];
    }
    Comparator<Integer> within = Comparator.comparingDouble((Integer kind) -> places[kind])
        .thenComparing(kind -> snapshot.kinds().get(kind).name());
    int[] heads = new int[places.length];
    Arrays.fill(heads, -1);
    String[] owners = new String[places.length];
    for (int kind = 0; kind < places.length; kind++) {
      int group = groups.of(kind);
      String owner = programs.name(snapshot.firstOrigin(kind));
      owners[group] = owners[group] == null || owner.compareTo(owners[group]) < 0 ? owner : owners[group];
      heads[group] = heads[group] < 0 || within.compare(kind, heads[group]) < 0 ? kind : heads[group];
    }
    order.sort(Comparator.comparing((Integer kind) -> owners[groups.of(kind)])
        .thenComparing(kind -> counts[kind] == 0)
        .thenComparing(kind -> snapshot.kinds().get(heads[groups.of(kind)]).name()).thenComparing(within)::compare);
    if (order.size() <= MOST_TO_COMPARE) {
      correct(order);
    }
    return order;
  }

  /** Returns objects from all of the time, and a few of each type that those do not pass. */
  private IntSet sample() {
    IntSet sample = new IntLinkedOpenHashSet();
    int end = snapshot.objects.end();
    int step = Math.max(1, end / Math.max(MOST_OBJECTS, OBJECTS_PER_TYPE * places.length));
    int[] passed = new int[places.length];
    for (int object = 0; object < end; object += step) {
      if (snapshot.exists(object)) {
        sample.add(object);
        for (int event : snapshot.path(object)) {
          passed[snapshot.events.type(event)]++;
        }
      }
    }
    if (step > 1) {
      addRare(sample, passed);
    }
    return sample;
  }

  private void addRare(IntSet sample, int[] passed) {
    int[] searched = new int[places.length];
    for (int number = 0; number < snapshot.blocks.size(); number++) {
      boolean hasRare = false;
      for (int type : snapshot.blocks.get(number).types()) {
        hasRare |= passed[type] < OBJECTS_PER_TYPE && searched[type]++ < OBJECTS_PER_TYPE;
      }
      if (hasRare) {
        snapshot.forEachIn(number, Snapshot.EVER, any -> true, (event, time) -> {
          int object = snapshot.events.object(event);
          if (object != EventColumns.NONE && passed[snapshot.events.type(event)] < OBJECTS_PER_TYPE
              && sample.add(object)) {
            passed[snapshot.events.type(event)]++;
          }
        });
      }
    }
  }

  /** Counts the parts of a path by related programs. */
  private void count(int[] path) {
    Int2ObjectLinkedOpenHashMap<IntList> parts = new Int2ObjectLinkedOpenHashMap<>();
    for (int event : path) {
      parts.computeIfAbsent(programs.of(snapshot.originNumber(event)), any -> new IntArrayList())
          .add(snapshot.events.type(event));
    }
    parts.values().forEach(this::count);
  }

  private void count(IntList path) {
    for (int i = 0; i < path.size() && path.size() > 1; i++) {
      int kind = path.getInt(i);
      groups.join(path.getInt(0), kind);
      places[kind] += i / (double) (path.size() - 1);
      counts[kind]++;
      for (int j = i + 1; places.length <= MOST_TO_COMPARE && j < Math.min(path.size(), LONGEST_PATH); j++) {
        before.addTo(BlockSummary.pair(kind, path.getInt(j)), 1);
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
