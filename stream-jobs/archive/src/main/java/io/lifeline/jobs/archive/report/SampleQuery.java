package io.lifeline.jobs.archive.report;

import io.lifeline.jobs.archive.sql.ArchiveDatabase;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** A question that a newcomer would ask this archive, in SQL to copy. */
public record SampleQuery(String title, String sql) {
  private static final SampleQuery TYPES = new SampleQuery(
      "what is in the archive?",
      "SELECT type, count(*) AS events, count(DISTINCT incarnation) AS emitters, min(ts) AS first, max(ts) AS last"
          + " FROM events GROUP BY type ORDER BY first LIMIT 12");
  private static final SampleQuery SLOWEST = new SampleQuery(
      "which blocks took longest from disk to disk?",
      "SELECT r.id, r.ts AS read, round((epoch_ns(w.ts) - epoch_ns(r.ts)) / 1e6, 3) AS ms, r.host AS \"from\","
          + " w.host AS \"to\" FROM \"disk.read.start\" r JOIN \"disk.write.end\" w USING (id) ORDER BY ms DESC"
          + " LIMIT 5");
  private static final SampleQuery RATE = new SampleQuery(
      "how fast did bytes reach the disk, in tenths of the run?",
      "SELECT min(ts) AS since, count(*) AS blocks, round(sum(nbytes) * 1e3 / nullif(epoch_ns(max(ts)) -"
          + " epoch_ns(min(ts)), 0), 1) AS mb_per_s FROM (SELECT *, ntile(10) OVER (ORDER BY ts) AS tenth FROM"
          + " \"disk.write.end\") GROUP BY tenth ORDER BY since");
  private static final SampleQuery EMITTERS = new SampleQuery(
      "who emitted?",
      "SELECT host, program, pid, archived, final FROM emitters ORDER BY archived DESC LIMIT 12");
  private static final SampleQuery LEDGER = new SampleQuery(
      "do the books balance?",
      "SELECT program, pid, route, emitted, archived, dropped, missing FROM ledger ORDER BY emitted DESC LIMIT 12");

  /** Three questions that fit what is there. */
  public static List<SampleQuery> of(ArchiveDatabase database) throws SQLException {
    boolean copies = Operations.has(database, "disk.read.start", "id")
        && Operations.has(database, "disk.write.end", "id") && Operations.has(database, "disk.write.end", "nbytes");
    List<SampleQuery> queries = new ArrayList<>();
    if (database.eventTypes().isEmpty()) {
      return List.of(EMITTERS, LEDGER);
    }
    queries.add(TYPES);
    queries.addAll(copies ? List.of(SLOWEST, RATE) : List.of(EMITTERS, LEDGER));
    return queries;
  }
}
