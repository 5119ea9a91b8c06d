package io.lifeline.jobs.archive.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.jobs.archive.DuckDb;
import io.lifeline.jobs.archive.TimeSpan;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.Test;

class TimeSlicesTest {
  private static final long MAX_BYTES = 100_000;

  private static long number(Connection connection, String sql) throws Exception {
    try (Statement statement = connection.createStatement(); ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getLong(1);
    }
  }

  /** Events of six centuries: some far apart, many within microseconds, and more than fit at one nanosecond. */
  @Test
  void slicesFitIntoMemoryAndHaveAllEventsInOrder() throws Exception {
    try (Connection connection = DuckDb.open(); Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE events AS SELECT make_timestamp_ns(t) AS ts, repeat('x', 800) AS fields FROM ("
          + "SELECT unnest([-9223372036854775000, 0, 9223372036854775000]) AS t"
          + " UNION ALL SELECT 1790000000000000000 + range * 3 FROM range(2000)"
          + " UNION ALL SELECT 1790000000000001000 FROM range(300))");
      List<TimeSpan> slices =
          TimeSlices.of(connection, span -> " FROM events WHERE " + span.condition(), MAX_BYTES);
      long events = 0;
      long before = Long.MIN_VALUE;
      for (TimeSpan slice : slices) {
        assertThat(slice.fromNs()).isGreaterThan(before).isLessThanOrEqualTo(slice.toNs());
        before = slice.toNs();
        long count = number(connection, "SELECT count(*) FROM events WHERE " + slice.condition());
        assertThat(count * 1_000 <= MAX_BYTES || slice.fromNs() == slice.toNs()).as("%s: %s", slice, count).isTrue();
        events += count;
      }
      assertThat(events).isEqualTo(2_303);
      assertThat(slices).hasSizeBetween(20, 60);
      assertThat(TimeSlices.of(connection, span -> " FROM events WHERE " + span.condition(), 1L << 40)).hasSize(1);
      assertThat(TimeSlices.of(connection, span -> " FROM events WHERE false AND " + span.condition(), MAX_BYTES))
          .isEmpty();
    }
  }
}
