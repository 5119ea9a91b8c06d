package io.lifeline.jobs.archive.parquet;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiPredicate;
import java.util.function.ToLongFunction;

/** Which adjacent manifests of a partition become one. */
enum Policy {
  /** All of them, for few files now. */
  EVERYTHING(2),

  /**
   * Those of one level, as soon as there are eight: about eight rolls are on the first level, 64 on the second, and so
   * on. A partition of any age has at most seven manifests on each level, and its oldest events are hardly ever copied.
   */
  LEVELS(8),

  /** None: only expired files are dropped. */
  NOTHING(Integer.MAX_VALUE);

  /** Limits what is lost if a merge is interrupted. */
  private static final int MOST = 64;

  /** Limits the memory of a merge: the routes of all its manifests take about four times their size as text. */
  private static final long MOST_BYTES = 8 * Compactor.LARGE_MANIFEST_BYTES;

  private static final int LEVEL_BITS = 3;

  private final int least;

  Policy(int least) {
    this.least = least;
  }

  /** Returns the least number of manifests that become one. */
  int least() {
    return least;
  }

  /**
   * Returns the groups of manifests that become one.
   *
   * @param manifests all of a partition by name, ordered by offset
   * @param bytes returns what a manifest adds to the size of its group
   */
  List<Map<String, Manifest>> groups(Map<String, Manifest> manifests, BiPredicate<String, Manifest> isUsable,
      ToLongFunction<String> bytes) {
    List<Map<String, Manifest>> groups = new ArrayList<>();
    Map<String, Manifest> group = new LinkedHashMap<>();
    int level = 0;
    long left = MOST_BYTES;
    for (Map.Entry<String, Manifest> entry : manifests.entrySet()) {
      Manifest manifest = entry.getValue();
      boolean isUsed = isUsable.test(entry.getKey(), manifest);
      left -= bytes.applyAsLong(entry.getKey());
      if (!isUsed || level(manifest) != level || group.size() == MOST || left < 0) {
        groups.add(group);
        group = new LinkedHashMap<>();
        left = MOST_BYTES - bytes.applyAsLong(entry.getKey());
      }
      if (isUsed) {
        group.put(entry.getKey(), manifest);
        level = level(manifest);
      }
    }
    groups.add(group);
    groups.removeIf(candidate -> candidate.size() < least);
    return groups;
  }

  private int level(Manifest manifest) {
    return this == LEVELS ? (Long.SIZE - 1 - Long.numberOfLeadingZeros(manifest.rolls())) / LEVEL_BITS : 0;
  }
}
