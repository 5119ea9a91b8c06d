package io.lifeline.console.web;

import io.lifeline.console.archive.Question;
import io.lifeline.jobs.archive.ArchiveReader;
import io.lifeline.jobs.archive.report.Report;
import io.lifeline.jobs.archive.report.Stage;
import io.lifeline.jobs.archive.report.StageRow;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What the archive says without a query: where the bottleneck is, and whether all events are accounted for. */
public final class ReportOperations implements Operations {
  private static final int MOST_ROUTES = 5_000;
  private static final String[] REASONS = {"ring_full", "no_ring", "reentrant", "oversize", "shutdown", "spool_full",
      "sink"};

  static final Map<String, Question> QUESTIONS = Map.of(
      "report", (reader, none) -> report(reader),
      "ledger", (reader, none) -> ledger(reader));

  private final ArchiveQuestions archive;

  public ReportOperations(ArchiveQuestions archive) {
    this.archive = archive;
  }

  @Override
  public List<Operation> all() {
    return List.of(
        Operation.get("/report", "Stages, bottleneck and balance of the archive", Answer.class,
            call -> archive.askShared("report")),
        Operation.get("/ledger", "The account of each emitter and route", Ledger.class,
            call -> archive.askShared("ledger")));
  }

  /** @param working share of the time for which the stage is at work; null if unknown */
  record StageAnswer(String name, long count, long bytes, double meanNs, long p99Ns, Double working) {}

  record Balance(long emitted, long archived, long inFlight, long dropped, long missing, long duplicated,
      boolean balanced) {}

  /** @param bottleneck a sentence */
  record Answer(String bottleneck, String stage, List<StageAnswer> stages, Balance balance) {}

  private static Answer report(ArchiveReader reader) throws SQLException {
    Report report = Report.of(reader, null);
    List<StageAnswer> stages = new ArrayList<>();
    for (StageRow row : report.stages()) {
      double working = report.share(Stage.of(row.operation()));
      stages.add(new StageAnswer(row.operation(), row.count(), row.bytes(), row.meanNs(), row.p99Ns(),
          Double.isNaN(working) ? null : working));
    }
    var ledger = report.ledger();
    return new Answer(report.sentence(), report.component(), stages,
        new Balance(ledger.emitted(), ledger.archived(), ledger.inFlight(), ledger.dropped(), ledger.missing(),
            ledger.duplicated(), ledger.balances()));
  }

  /** Counts are decimal text: emitters may claim any number. */
  record Account(String incarnation, String program, String host, long pid, String route, boolean ended,
      String emitted, String archived, String dropped, String missing, String spooled, Map<String, String> reasons) {}

  record Ledger(List<Account> rows) {}

  private static Ledger ledger(ArchiveReader reader) throws SQLException {
    List<Account> accounts = new ArrayList<>();
    try (PreparedStatement query = reader.prepare("SELECT * FROM ledger ORDER BY last_broker_time DESC LIMIT "
        + MOST_ROUTES); ResultSet row = query.executeQuery()) {
      while (row.next()) {
        Map<String, String> reasons = new TreeMap<>();
        for (String reason : REASONS) {
          String dropped = row.getString("dropped_" + reason);
          if (!dropped.equals("0")) {
            reasons.put(reason, dropped);
          }
        }
        accounts.add(new Account(row.getString("incarnation"), row.getString("program"), row.getString("host"),
            row.getLong("pid"), row.getString("route_name"), row.getBoolean("final"), row.getString("emitted"),
            row.getString("archived"), row.getString("dropped"), row.getString("missing"), row.getString("spooled"),
            reasons));
      }
    }
    return new Ledger(accounts);
  }
}
