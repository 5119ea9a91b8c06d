package io.lifeline.console.feed;

import io.lifeline.jobs.archive.ArchiveReader;
import io.lifeline.jobs.archive.TimeSpan;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * Divides the newest events of an archive into spans of time, oldest first, that are read one by one: an archive sorts
 * in memory what a query asks for in order.
 *
 * @param events of all spans together
 */
record Slices(List<Slice> spans, long events) {
  private static final int PARTS = 10_000;

  /** @param toNs last nanosecond */
  record Slice(long fromNs, long toNs) {}

  /**
   * @param newest has these events, and others
   * @param limit about how many events the slices hold together at most; those of the oldest nanosecond are never
   *     divided
   * @param perSlice about how many a slice holds
   */
  static Slices of(ArchiveReader archive, TimeSpan newest, long limit, long perSlice) throws SQLException {
    String time = archive.timeNs();
    String events = archive.events(newest) + " AS e";
    try (PreparedStatement query =
            archive.prepare("SELECT count(*), min(" + time + "), max(" + time + ") FROM " + events);
        ResultSet row = query.executeQuery()) {
      row.next();
      return row.getLong(1) == 0 ? new Slices(List.of(), 0)
          : divide(archive, events, row.getLong(2), row.getLong(3), limit, perSlice);
    }
  }

  private static Slices divide(
      ArchiveReader archive, String events, long firstNs, long lastNs, long limit, long perSlice) throws SQLException {
    long partNs = Long.divideUnsigned(lastNs - firstNs, PARTS) + 1; // unsigned: times may be 292 years apart
    long[] counts = new long[PARTS];
    String part = lastNs - firstNs >= 0
        ? "(" + archive.timeNs() + " - (" + firstNs + ")) / " + partNs
        : "CAST(" + archive.timeNs() + " AS DOUBLE PRECISION) / " + partNs + " - (" + (double) firstNs / partNs + ")";
    try (PreparedStatement query = archive.prepare("SELECT CAST(floor(" + part + ") AS BIGINT) AS part, count(*)"
            + " FROM " + events + " GROUP BY 1");
        ResultSet rows = query.executeQuery()) {
      while (rows.next()) {
        counts[(int) Math.max(0, Math.min(PARTS - 1, rows.getLong(1)))] += rows.getLong(2);
      }
    }
    List<Slice> spans = new ArrayList<>();
    long total = 0;
    long toNs = lastNs;
    long inSlice = 0;
    for (int i = PARTS - 1; i >= 0 && total < limit; i--) {
      total += counts[i];
      inSlice += counts[i];
      long partFromNs = firstNs + i * partNs;
      if (inSlice > 0 && (inSlice >= perSlice || total >= limit || i == 0)) {
        spans.add(0, new Slice(partFromNs, toNs));
        toNs = partFromNs - 1;
        inSlice = 0;
      }
    }
    return new Slices(List.copyOf(spans), total);
  }
}
