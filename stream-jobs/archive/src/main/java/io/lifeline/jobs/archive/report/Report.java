package io.lifeline.jobs.archive.report;

import io.lifeline.jobs.archive.ArchiveReader;
import io.lifeline.jobs.archive.EventSelection;
import io.lifeline.jobs.archive.Sql;
import io.lifeline.jobs.core.bottleneck.BottleneckSettings;
import io.lifeline.jobs.core.config.JobConfig;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The content of {@code lifeline-jobs report}, computed from the archive alone. */
public final class Report {

  /** Session (null for none) and program of each batch. */
  static final String ORIGINS = "(SELECT incarnation, route, sequence, max(context->>'session') AS session,"
      + " max(program) AS program FROM batches GROUP BY incarnation, route, sequence)";

  private final List<StageRow> stages;
  private final List<Lifeline> lifelines;
  private final double[] shares;
  private final List<Bottleneck> bottlenecks;
  private final LedgerLine ledger;

  private Report(
      List<StageRow> stages, List<Lifeline> lifelines, List<Bottleneck> bottlenecks, LedgerLine ledger) {
    this.stages = stages;
    this.lifelines = lifelines;
    this.shares = WorkShares.of(lifelines);
    this.bottlenecks = bottlenecks;
    this.ledger = ledger;
  }

  /**
   * What is reported on.
   *
   * @param session only events of this session, and of those that began in it; null for all
   * @param program only events of programs whose name matches, where {@code *} is any text; null for all
   * @param settings of the job {@code bottleneck}
   */
  public record Selection(String session, String program, BottleneckSettings settings) {

    /** Selects all events, for the job's default settings. */
    public static final Selection ALL =
        new Selection(null, null, BottleneckSettings.of(JobConfig.load(null, Map.of(), Map.of())));

    private String where() {
      List<String> conditions = new ArrayList<>();
      if (session != null) {
        conditions.add("(incarnation, route, sequence) IN (SELECT b.incarnation, b.route, b.sequence FROM batches b"
            + " JOIN session_members m ON m.member = b.context->>'session' WHERE m.session = "
            + Sql.literal(session) + ")");
      }
      if (program != null) {
        conditions.add(EventSelection.matches("program", program));
      }
      return conditions.isEmpty() ? "true" : String.join(" AND ", conditions);
    }
  }

  /** @param emitted number of events counted by the emitting programs; null to use the counters in the batches */
  public static Report of(ArchiveReader archive, Long emitted) throws SQLException {
    return of(archive, Selection.ALL, emitted);
  }

  /** Returns the report on the selected events; the ledger is always that of the whole archive. */
  public static Report of(ArchiveReader archive, Selection selection, Long emitted) throws SQLException {
    return of(archive, selection, LedgerLine.of(archive, emitted));
  }

  /** Returns that of the events whose batches name the session, or one that began in it; without a ledger. */
  public static Report ofSession(ArchiveReader archive, String session) throws SQLException {
    return of(archive, new Selection(session, null, Selection.ALL.settings()), (LedgerLine) null);
  }

  private static Report of(ArchiveReader archive, Selection selection, LedgerLine ledger) throws SQLException {
    String where = selection.where();
    Map<String, List<Operation>> operations = Operations.read(archive, where);
    List<StageRow> stages = operations.isEmpty() ? List.of() : StageRow.of(operations);
    List<Lifeline> lifelines = Lifeline.of(operations, SocketSamples.unread(archive, where));
    return new Report(stages, lifelines,
        Bottlenecks.of(archive, where, selection.session(), selection.settings(), operations), ledger);
  }

  public List<StageRow> stages() {
    return stages;
  }

  /** Returns the bottleneck of each group: of each session, or program, unless the settings say otherwise. */
  public List<Bottleneck> bottlenecks() {
    return bottlenecks;
  }

  /** Returns the bottleneck, if all that has one is one group; else null. */
  public String component() {
    return bottlenecks.size() == 1 ? bottlenecks.get(0).component() : null;
  }

  /** Returns the bottleneck and why, or why there is none, in one sentence. */
  public String sentence() {
    return switch (bottlenecks.size()) {
      case 0 -> "none (no operation of a component has both events .start and .end with an id, or a caliper's report)";
      case 1 -> bottlenecks.get(0).sentence();
      default -> "none (each of " + bottlenecks.size() + " sessions or programs has its own: choose one)";
    };
  }

  /** Returns the part of the time for which the operation's stage was at work; NaN if unknown. */
  public double share(Stage stage) {
    return stage == null || shares == null ? Double.NaN : shares[stage.ordinal()];
  }

  public LedgerLine ledger() {
    return ledger;
  }

  /** Returns the picture of the lifelines, or null if there are none. */
  public String lifelinesSvg() {
    return lifelines.isEmpty() ? null : LifelinePicture.draw(lifelines);
  }
}
