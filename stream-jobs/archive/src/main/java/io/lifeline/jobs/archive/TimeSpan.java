package io.lifeline.jobs.archive;

/**
 * A span of event time, in nanoseconds since 1970.
 *
 * @param toNs last nanosecond
 */
public record TimeSpan(long fromNs, long toNs) {
  public static final TimeSpan ALL = new TimeSpan(Long.MIN_VALUE, Long.MAX_VALUE);

  /** DuckDB's TIMESTAMP_NS reserves both ends of the 64-bit range for infinities. */
  private static final long LIMIT_NS = Long.MAX_VALUE - 1;

  /**
   * @param sinceNs first nanosecond; null for no limit
   * @param untilNs nanosecond after the last one; null for no limit
   */
  public static TimeSpan of(Long sinceNs, Long untilNs) {
    return new TimeSpan(sinceNs == null ? ALL.fromNs : sinceNs, untilNs == null ? ALL.toNs : untilNs - 1);
  }

  /** Returns whether there is a time that both contain. */
  public boolean overlaps(TimeSpan other) {
    return fromNs <= other.toNs && other.fromNs <= toNs;
  }

  /** Returns the times that both contain; none if the result ends before it begins. */
  public TimeSpan intersection(TimeSpan other) {
    return new TimeSpan(Math.max(fromNs, other.fromNs), Math.min(toNs, other.toNs));
  }

  /** Returns DuckDB's condition that the column {@code ts} is in this span. */
  public String condition() {
    return "ts BETWEEN " + timestamp(fromNs) + " AND " + timestamp(toNs);
  }

  private static String timestamp(long ns) {
    return "make_timestamp_ns(" + Math.max(-LIMIT_NS, Math.min(ns, LIMIT_NS)) + ")";
  }
}
