package io.lifeline.jobs.archive.report;

import io.lifeline.jobs.archive.ArchiveReader;
import io.lifeline.jobs.archive.Sql;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;

/** The content of {@code lifeline-jobs report}, computed from the archive alone. */
public final class Report {
  private final List<StageRow> stages;
  private final List<Lifeline> lifelines;
  private final Bottleneck bottleneck;
  private final LedgerLine ledger;

  private Report(List<StageRow> stages, List<Lifeline> lifelines, Bottleneck bottleneck, LedgerLine ledger) {
    this.stages = stages;
    this.lifelines = lifelines;
    this.bottleneck = bottleneck;
    this.ledger = ledger;
  }

  /** @param emitted number of events counted by the emitting programs; null to use the counters in the batches */
  public static Report of(ArchiveReader archive, Long emitted) throws SQLException {
    return of(archive, "true", LedgerLine.of(archive, emitted));
  }

  /** Returns that of the events whose batches name the session, or one that began in it; without a ledger. */
  public static Report ofSession(ArchiveReader archive, String session) throws SQLException {
    return of(archive, "(incarnation, route, sequence) IN (SELECT b.incarnation, b.route, b.sequence FROM batches b"
        + " JOIN session_members m ON m.member = b.context->>'session' WHERE m.session = "
        + Sql.literal(Sql.clean(session)) + ")", null);
  }

  private static Report of(ArchiveReader archive, String where, LedgerLine ledger) throws SQLException {
    Map<String, List<Operation>> operations = Operations.read(archive, where);
    List<StageRow> stages = operations.isEmpty() ? List.of() : StageRow.of(operations);
    List<Lifeline> lifelines = Lifeline.of(operations, SocketSamples.unread(archive, where));
    return new Report(stages, lifelines, Bottleneck.of(lifelines), ledger);
  }

  public List<StageRow> stages() {
    return stages;
  }

  public Bottleneck bottleneck() {
    return bottleneck;
  }

  public LedgerLine ledger() {
    return ledger;
  }

  /** Returns the picture of the lifelines, or null if there are none. */
  public String lifelinesSvg() {
    return lifelines.isEmpty() ? null : LifelinePicture.draw(lifelines);
  }
}
