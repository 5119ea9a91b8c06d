package io.lifeline.jobs.core;

import java.util.Arrays;

/**
 * A set of sequences, stored as disjoint runs in order: one run {@code [1, n]} for a route without loss, and one more
 * per gap. Sequences are unsigned, as in the format.
 */
public final class SequenceSet {

  /** Receives the runs of a set, in order; both ends are inclusive. */
  @FunctionalInterface
  public interface RunVisitor {
    void run(long first, long last);
  }

  /** First and last sequence of each run, alternating. */
  private long[] ends = new long[4];

  private int runs;

  public int runs() {
    return runs;
  }

  public boolean isEmpty() {
    return runs == 0;
  }

  /** The highest sequence, or 0 when empty. */
  public long last() {
    return runs == 0 ? 0 : ends[2 * runs - 1];
  }

  /** Returns the number of sequences in the set. */
  public long size() {
    long sum = 0;
    for (int i = 0; i < runs; i++) {
      sum += ends[2 * i + 1] - ends[2 * i] + 1;
    }
    return sum;
  }

  /** Returns the number of sequences between 1 and {@link #last} that are not in the set. */
  public long missing() {
    return last() - size();
  }

  public boolean contains(long sequence) {
    int i = runUpTo(sequence);
    return i >= 0 && Long.compareUnsigned(sequence, ends[2 * i + 1]) <= 0;
  }

  /** Returns whether any of the sequences from first to last is in the set. */
  public boolean containsAny(long first, long last) {
    int i = runUpTo(last);
    return i >= 0 && Long.compareUnsigned(first, ends[2 * i + 1]) <= 0;
  }

  /** Adds one sequence; returns false if it was present. */
  public boolean add(long sequence) {
    if (contains(sequence)) {
      return false;
    }
    addRun(sequence, sequence);
    return true;
  }

  /** Adds all sequences from first to last. */
  public void addRun(long first, long last) {
    if (first == 0 || Long.compareUnsigned(first, last) > 0) {
      throw new IllegalArgumentException("not a run of sequences: " + first + " to " + last);
    }
    int from = runUpTo(first);
    if (from < 0 || Long.compareUnsigned(ends[2 * from + 1], first - 1) < 0) {
      from++;
    }
    int to = from;
    while (to < runs && Long.compareUnsigned(ends[2 * to] - 1, last) <= 0) {
      to++;
    }
    long newFirst = to > from ? min(ends[2 * from], first) : first;
    long newLast = to > from ? max(ends[2 * to - 1], last) : last;
    replaceRuns(from, to, newFirst, newLast);
  }

  /**
   * Drops the shortest runs until {@code most} are left; of equally long runs, the first. Filling gaps instead would
   * turn late batches into duplicates. Forged runs are short, so they are dropped first.
   *
   * @param kept the run with this sequence is kept
   * @return the number of sequences dropped
   */
  public long forgetShortest(int most, long kept) {
    int surplus = runs - most;
    if (surplus <= 0) {
      return 0;
    }
    int keptRun = runUpTo(kept);
    long[] lengths = new long[runs];
    for (int i = 0; i < runs; i++) { // maps unsigned order to signed order
      lengths[i] = i == keptRun ? Long.MAX_VALUE : ends[2 * i + 1] - ends[2 * i] ^ Long.MIN_VALUE;
    }
    long[] sorted = lengths.clone();
    Arrays.sort(sorted);
    long limit = sorted[surplus - 1];
    int ofLimit = 0;
    for (int i = surplus - 1; i >= 0 && sorted[i] == limit; i--) {
      ofLimit++;
    }
    long sizeBefore = size();
    int left = 0;
    for (int i = 0; i < lengths.length; i++) {
      if (lengths[i] > limit || lengths[i] == limit && ofLimit-- <= 0) {
        ends[2 * left] = ends[2 * i];
        ends[2 * left + 1] = ends[2 * i + 1];
        left++;
      }
    }
    runs = left;
    return sizeBefore - size();
  }

  public void forEachRun(RunVisitor visitor) {
    for (int i = 0; i < runs; i++) {
      visitor.run(ends[2 * i], ends[2 * i + 1]);
    }
  }

  public void encode(StateWriter out) {
    out.varint(runs);
    long at = 0;
    for (int i = 0; i < 2 * runs; i++) {
      out.varint(ends[i] - at);
      at = ends[i];
    }
  }

  public static SequenceSet decode(StateReader in) {
    SequenceSet set = new SequenceSet();
    set.runs = in.count(2);
    set.ends = new long[Math.max(4, 2 * set.runs)];
    long at = 0;
    for (int i = 0; i < 2 * set.runs; i++) {
      at += in.varint();
      set.ends[i] = at;
    }
    return set;
  }

  /** Returns the index of the last run that starts at or before the sequence, or -1. */
  private int runUpTo(long sequence) {
    int low = 0;
    int high = runs - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      if (Long.compareUnsigned(ends[2 * middle], sequence) <= 0) {
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    return high;
  }

  /** Replaces the runs from (inclusive) to (exclusive) with one run. */
  private void replaceRuns(int from, int to, long first, long last) {
    int grown = runs - (to - from) + 1;
    if (2 * grown > ends.length) {
      ends = Arrays.copyOf(ends, 2 * ends.length);
    }
    System.arraycopy(ends, 2 * to, ends, 2 * (from + 1), 2 * (runs - to));
    ends[2 * from] = first;
    ends[2 * from + 1] = last;
    runs = grown;
  }

  private static long min(long a, long b) {
    return Long.compareUnsigned(a, b) <= 0 ? a : b;
  }

  private static long max(long a, long b) {
    return Long.compareUnsigned(a, b) >= 0 ? a : b;
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder("{");
    forEachRun(
        (first, last) -> {
          text.append(text.length() > 1 ? ", " : "").append(Long.toUnsignedString(first));
          if (last != first) {
            text.append('-').append(Long.toUnsignedString(last));
          }
        });
    return text.append('}').toString();
  }
}
