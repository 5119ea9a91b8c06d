package io.lifeline.console.index;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Which programs belong together, because objects go from one to the other: most objects of one of them enter the same
 * programs in the same order. Unrelated programs may also use the same ids, for example numbers from 1.
 */
final class RelatedPrograms {
  /** A tour with more programs, such as that of an id that all use, relates none. */
  private static final int LONGEST_TOUR = 16;

  private final Snapshot snapshot;
  private final List<String> names = new ArrayList<>();
  private final int[] programOfOrigin;
  private final DisjointSets related;
  private final Map<List<Integer>, Integer> tours = new HashMap<>();
  private final int[] objects;
  private final String[] firstNames;

  RelatedPrograms(Snapshot snapshot) {
    this.snapshot = snapshot;
    this.programOfOrigin = new int[snapshot.origins().size()];
    Map<String, Integer> numbers = new HashMap<>();
    for (int i = 0; i < programOfOrigin.length; i++) {
      programOfOrigin[i] = numbers.computeIfAbsent(snapshot.origins().get(i).program(), name -> {
        names.add(name);
        return names.size() - 1;
      });
    }
    this.related = new DisjointSets(names.size());
    this.objects = new int[names.size()];
    this.firstNames = new String[names.size()];
    findFirstNames();
  }

  /** Returns how many programs there are. */
  int count() {
    return names.size();
  }

  /** Counts the programs that an object enters. */
  void add(int[] path) {
    Set<Integer> entered = new LinkedHashSet<>();
    for (int event : path) {
      entered.add(programOfOrigin[snapshot.originNumber(event)]);
    }
    entered.forEach(program -> objects[program]++);
    if (entered.size() > 1 && entered.size() <= LONGEST_TOUR) {
      tours.merge(List.copyOf(entered), 1, Integer::sum);
    }
  }

  /** Joins the programs of each tour that at least two thirds of the objects of one of them make. */
  void relate() {
    tours.forEach((tour, count) -> {
      if (tour.stream().anyMatch(program -> 3L * count >= 2L * objects[program])) {
        tour.forEach(program -> related.join(tour.get(0), program));
      }
    });
    findFirstNames();
  }

  private void findFirstNames() {
    Arrays.fill(firstNames, null);
    for (int program = 0; program < names.size(); program++) {
      int set = related.of(program);
      if (firstNames[set] == null || names.get(program).compareTo(firstNames[set]) < 0) {
        firstNames[set] = names.get(program);
      }
    }
  }

  /** Returns a number that the related programs of an emitter have in common. */
  int of(int origin) {
    return related.of(programOfOrigin[origin]);
  }

  /** Returns the first name of the related programs of an emitter. */
  String name(int origin) {
    return firstNames[of(origin)];
  }
}
