package io.lifeline.jobs.archive.report;

import io.lifeline.jobs.archive.ArchiveReader;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Locale;

/**
 * The event counts of an archive.
 *
 * @param emitted counted by the emitters, or by the caller
 * @param archived archived events, including those that the retention has removed
 * @param inFlight emitted but not archived, while an emitter has not sent its final batch
 * @param dropped counted as dropped by the emitters
 * @param missing neither archived nor counted as dropped
 * @param duplicated rows beyond the first of each (incarnation, route, sequence, event_index)
 */
public record LedgerLine(long emitted, long archived, long inFlight, long dropped, long missing, long duplicated) {
  /** Counters from emitters are untrusted: drops are limited to the events emitted, and sums must not overflow. */
  private static final String ROUTES =
      "SELECT " + sum("emitted") + ", " + sum("archived") + ", " + sum("least(dropped, emitted)") + ", "
          + sum("greatest(missing, 0)") + ", coalesce(bool_and(final), false) FROM ledger";
  private static final String DUPLICATED =
      "SELECT coalesce(sum(n - 1), 0) FROM (SELECT count(*) AS n FROM events"
          + " GROUP BY incarnation, route, sequence, event_index HAVING count(*) > 1) repeated";

  /** @param emitted number of events counted by the emitting programs; null to use the counters in the batches */
  static LedgerLine of(ArchiveReader archive, Long emitted) throws SQLException {
    long duplicated = number(archive, DUPLICATED);
    try (PreparedStatement query = archive.prepare(ROUTES); ResultSet row = query.executeQuery()) {
      row.next();
      long counted = row.getLong(1);
      long archived = row.getLong(2);
      long dropped = row.getLong(3);
      long missing = row.getLong(4);
      boolean allFinal = row.getBoolean(5);
      long all = emitted == null ? counted : emitted;
      long unexplained = all - (archived - duplicated) - dropped - missing;
      return allFinal
          ? new LedgerLine(all, archived, 0, dropped, missing + unexplained, duplicated)
          : new LedgerLine(all, archived, unexplained, dropped, missing, duplicated);
    }
  }

  private static String sum(String column) {
    return "least(coalesce(sum(" + column + "), 0), " + Long.MAX_VALUE + ")";
  }

  private static long number(ArchiveReader archive, String sql) throws SQLException {
    try (PreparedStatement query = archive.prepare(sql); ResultSet row = query.executeQuery()) {
      row.next();
      return row.getLong(1);
    }
  }

  public boolean balances() {
    return inFlight == 0 && missing == 0 && duplicated == 0;
  }

  @Override
  public String toString() {
    return String.format(Locale.ROOT,
        "emitted=%d archived=%d in_flight=%d dropped=%d missing=%d duplicated=%d",
        emitted, archived, inFlight, dropped, missing, duplicated);
  }
}
