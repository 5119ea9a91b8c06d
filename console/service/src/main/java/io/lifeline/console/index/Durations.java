package io.lifeline.console.index;

import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.util.Arrays;
import java.util.function.IntPredicate;

/**
 * How long passages of a span take: exact quantiles, and counts in bins of equal ratio.
 *
 * @param sorted all durations in nanoseconds
 */
public record Durations(long[] sorted) {
  /** Bins per power of ten. */
  private static final int PER_DECADE = 10;

  public static Durations of(Snapshot snapshot, Span span, IntPredicate origin, Passage passage) {
    LongArrayList all = new LongArrayList();
    passage.forEach(snapshot, span, origin, (event, duration) -> all.add(duration));
    long[] sorted = all.toLongArray();
    Arrays.parallelSort(sorted);
    return new Durations(sorted);
  }

  /** Returns the smallest duration that at least this share of all do not exceed; 0 if there are none. */
  public long quantile(double share) {
    return sorted.length == 0 ? 0
        : sorted[Math.max(0, (int) Math.min(sorted.length - 1L, (long) Math.ceil(share * sorted.length) - 1))];
  }

  public double mean() {
    return sorted.length == 0 ? 0 : Arrays.stream(sorted).asDoubleStream().sum() / sorted.length;
  }

  /** Returns edges that enclose both ends, in nanoseconds, ascending. */
  public static long[] edges(long least, long most) {
    int first = bin(Math.max(1, least));
    int last = bin(Math.max(1, most)) + 1;
    long[] edges = new long[last - first + 1];
    for (int i = 0; i < edges.length; i++) {
      edges[i] = Math.round(Math.pow(10, (first + i) / (double) PER_DECADE));
    }
    edges[0] = Math.min(edges[0], least);
    edges[edges.length - 1] = Math.max(edges[edges.length - 1], most + 1);
    return edges;
  }

  private static int bin(long duration) {
    return (int) Math.floor(Math.log10(duration) * PER_DECADE);
  }

  /** Returns the bin of a duration between these edges: the last one whose lower edge it reaches. */
  public static int bin(long[] edges, long duration) {
    int found = Arrays.binarySearch(edges, duration);
    return Math.max(0, Math.min(edges.length - 2, found >= 0 ? found : -found - 2));
  }

  /** Returns how many durations are in each bin. */
  public int[] counts(long[] edges) {
    int[] counts = new int[edges.length - 1];
    for (long duration : sorted) {
      counts[bin(edges, duration)]++;
    }
    return counts;
  }
}
