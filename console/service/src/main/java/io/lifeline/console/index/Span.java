package io.lifeline.console.index;

/** A part of the time axis in nanoseconds since 1970, both ends included. */
public record Span(long from, long to) {
  public Span {
    if (from > to) {
      throw new IllegalArgumentException("the span ends before it begins: from=" + from + " is after to=" + to);
    }
  }

  /** Returns in which of so many equal parts a time of the span lies. */
  public int part(long time, int parts) {
    // In floating point, since a product of the two would overflow; the last part includes the end.
    return (int) Math.min(parts - 1, (long) ((double) (time - from) / ((double) (to - from) + 1) * parts));
  }
}
