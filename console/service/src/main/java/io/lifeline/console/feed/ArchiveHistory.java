package io.lifeline.console.feed;

import io.lifeline.codec.Incarnation;
import io.lifeline.console.index.Origin;
import io.lifeline.console.index.TraceIndex;
import io.lifeline.jobs.archive.ArchiveReader;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Reads the newest events of an archive into the index, in order of time. */
final class ArchiveHistory {
  /** Events that are added at once: between them the page is answered. */
  private static final int PIECE = 20_000;

  private final ArchiveReader archive;
  private final TraceIndex index;
  private final SeenBatches seen;
  private final LoadProgress progress;

  ArchiveHistory(ArchiveReader archive, TraceIndex index, SeenBatches seen, LoadProgress progress) {
    this.archive = archive;
    this.index = index;
    this.seen = seen;
    this.progress = progress;
  }

  /** @param limit how many events to read at most */
  void load(long limit) throws SQLException {
    long total = count();
    progress.begin(Math.min(total, limit));
    String since = "";
    if (total > limit) {
      since = " WHERE " + archive.timeNs() + " >= " + oldest(total, limit);
    }
    try (PreparedStatement query = archive.prepare("SELECT " + archive.timeNs() + " AS t, type, level, id, host,"
        + " program, pid, incarnation, route, sequence FROM events" + since + " ORDER BY t")) {
      query.setFetchSize(PIECE);
      try (ResultSet rows = query.executeQuery()) {
        boolean[] more = {true};
        while (more[0] && !Thread.currentThread().isInterrupted()) {
          SQLException[] failure = {null};
          index.add(() -> {
            try {
              more[0] = addPiece(rows);
            } catch (SQLException e) {
              failure[0] = e;
            }
          });
          if (failure[0] != null) {
            throw failure[0];
          }
        }
      }
    }
  }

  private long count() throws SQLException {
    try (PreparedStatement query = archive.prepare("SELECT count(*) FROM events");
        ResultSet row = query.executeQuery()) {
      row.next();
      return row.getLong(1);
    }
  }

  /** Returns the time of the first event of those that fit. */
  private long oldest(long total, long limit) throws SQLException {
    try (PreparedStatement query = archive.prepare("SELECT " + archive.timeNs() + " AS t FROM events ORDER BY t LIMIT 1"
        + " OFFSET " + (total - limit)); ResultSet row = query.executeQuery()) {
      return row.next() ? row.getLong(1) : Long.MIN_VALUE;
    }
  }

  /** Returns whether there are more. */
  private boolean addPiece(ResultSet rows) throws SQLException {
    for (int i = 0; i < PIECE; i++) {
      if (!rows.next()) {
        return false;
      }
      String incarnation = rows.getString(8);
      Origin origin = new Origin(incarnation, rows.getString(6), rows.getString(5), rows.getLong(7));
      index.event(rows.getLong(1), index.kind(rows.getString(2), rows.getString(3)), rows.getString(4),
          index.origin(origin));
      seen.add(Incarnation.parse(incarnation), rows.getInt(9), rows.getLong(10));
      progress.advance(1);
    }
    return true;
  }
}
