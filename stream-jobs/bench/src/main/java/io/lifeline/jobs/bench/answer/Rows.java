package io.lifeline.jobs.bench.answer;

import io.lifeline.jobs.archive.ArchiveReader;
import io.lifeline.jobs.archive.EmptyArchiveException;
import io.lifeline.jobs.archive.TimeSpan;
import io.lifeline.jobs.archive.sql.ArchiveDatabase;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** The events' rows in an archive of Parquet files, asked for again and again. Each query opens the archive anew. */
final class Rows implements AnswerBench.Watch {
  private static final long PAUSE_MS = 50;
  /** Looked at in each query, so that its time does not grow with the archive. */
  private static final long SPAN_NS = 60_000_000_000L;

  private final Path archive;
  private final long first;
  private final long[] timesNs;

  Rows(Path archive, long first, long last) {
    this.archive = archive;
    this.first = first;
    this.timesNs = new long[Math.toIntExact(last - first + 1)];
  }

  @Override
  public void poll(Seen seen) throws IOException, SQLException, InterruptedException {
    Thread.sleep(PAUSE_MS);
    try (ArchiveReader reader = ArchiveDatabase.open(archive)) {
      if (reader.viewOf(AnswerBench.EVENT) == null) {
        return;
      }
      long nowNs = System.currentTimeMillis() * 1_000_000;
      String sql = "SELECT " + AnswerBench.FIELD + ", " + reader.timeNs() + " FROM "
          + reader.eventsOf(AnswerBench.EVENT, new TimeSpan(nowNs - SPAN_NS, nowNs));
      try (PreparedStatement query = reader.prepare(sql); ResultSet rows = query.executeQuery()) {
        while (rows.next()) {
          long place = rows.getLong(1) - first;
          if (place >= 0 && place < timesNs.length) {
            timesNs[(int) place] = rows.getLong(2);
            seen.add(rows.getLong(1));
          }
        }
      }
    } catch (EmptyArchiveException e) {
      // The first files are still being written.
    }
  }

  /** Returns the events' times in nanoseconds since 1970. */
  long[] times() {
    return timesNs;
  }

  @Override
  public void close() {}
}
