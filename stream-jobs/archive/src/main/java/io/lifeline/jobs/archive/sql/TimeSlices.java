package io.lifeline.jobs.archive.sql;

import io.lifeline.jobs.archive.TimeSpan;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * Divides events into slices of time that can be sorted in memory. DuckDB sorts on disk, too, but not rows of
 * kilobytes, most of which it needs in memory. A slice is cheap to scan: Parquet has the times of each row group.
 */
final class TimeSlices {
  private record Bucket(TimeSpan slice, long bytes) {}

  private static final int BUCKETS = 4_096;

  /** Bytes of a row beside its fields. */
  private static final int ROW_BYTES = 200;

  /** FORMAT.md limits events to 32 KiB, which JSON may escape. */
  private static final long MAX_ROW_BYTES = 128 << 10;

  private final Connection connection;
  private final Function<TimeSpan, String> source;
  private final long maxBytes;
  private final List<TimeSpan> slices = new ArrayList<>();

  private TimeSlices(Connection connection, Function<TimeSpan, String> source, long maxBytes) {
    this.connection = connection;
    this.source = source;
    this.maxBytes = maxBytes;
  }

  /**
   * Returns slices of at most that size that contain all events, in order; larger ones have a single nanosecond.
   *
   * @param source returns the FROM and WHERE clauses of the events in a span
   */
  static List<TimeSpan> of(Connection connection, Function<TimeSpan, String> source, long maxBytes)
      throws SQLException {
    TimeSlices all = new TimeSlices(connection, source, maxBytes);
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(
            "SELECT count(*), epoch_ns(min(ts)), epoch_ns(max(ts))" + source.apply(TimeSpan.ALL))) {
      row.next();
      long count = row.getLong(1);
      TimeSpan whole = new TimeSpan(row.getLong(2), row.getLong(3));
      if (count > 0 && count <= maxBytes / MAX_ROW_BYTES) {
        all.slices.add(whole);
      } else if (count > 0) {
        all.divide(whole);
      }
    }
    return all.slices;
  }

  private void divide(TimeSpan whole) throws SQLException {
    TimeSpan open = null;
    long bytes = 0;
    for (Bucket bucket : buckets(whole)) {
      if (open != null && bytes + bucket.bytes > maxBytes) {
        slices.add(open);
        open = null;
        bytes = 0;
      }
      if (bucket.bytes > maxBytes && bucket.slice.fromNs() < bucket.slice.toNs()) {
        divide(bucket.slice);
      } else {
        open = new TimeSpan(open == null ? bucket.slice.fromNs() : open.fromNs(), bucket.slice.toNs());
        bytes += bucket.bytes;
      }
    }
    if (open != null) {
      slices.add(open);
    }
  }

  /** Returns the parts of a slice that have events. Their number is unsigned: a slice may be longer than 292 years. */
  private List<Bucket> buckets(TimeSpan whole) throws SQLException {
    long width = Long.divideUnsigned(whole.toNs() - whole.fromNs(), BUCKETS) + 1;
    String number = "((epoch_ns(ts)::HUGEINT - CAST('" + whole.fromNs() + "' AS HUGEINT)) // " + width + ")::BIGINT";
    List<Bucket> buckets = new ArrayList<>();
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT " + number + " AS bucket,"
            + " sum(strlen(CAST(fields AS VARCHAR)) + " + ROW_BYTES + ")::BIGINT" + source.apply(whole)
            + " GROUP BY bucket ORDER BY bucket")) {
      while (rows.next()) {
        long from = whole.fromNs() + rows.getLong(1) * width;
        boolean isLast = Long.compareUnsigned(whole.toNs() - from, width) < 0;
        buckets.add(new Bucket(new TimeSpan(from, isLast ? whole.toNs() : from + width - 1), rows.getLong(2)));
      }
    }
    return buckets;
  }
}
