package io.lifeline.jobs.archive.postgres;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.ColumnarBatch;
import io.lifeline.jobs.archive.ArchiveCollisionException;
import io.lifeline.jobs.archive.ArchiveFeed;
import io.lifeline.jobs.archive.ArchiveUnavailableException;
import io.lifeline.jobs.archive.LateBatch;
import io.lifeline.jobs.archive.PartitionWriter;
import io.lifeline.jobs.archive.Sql;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.RetiredRoutes;
import io.lifeline.jobs.core.RouteKey;
import java.io.IOException;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.List;

/**
 * Buffers the encoded events of one partition, and stores them together with its position, if necessary while the next
 * ones are buffered: encoding and the server each use a processor. Tables are created before that, on the thread that
 * appends, so the two threads share only the connection, on which {@link PostgresSession} serialises them. The position
 * is changed by compare-and-set, so even a writer that lost its lock with its connection cannot store what another has
 * stored.
 */
final class PostgresPartition extends PartitionWriter {
  private static final String WRITE = "cannot write";

  /** Limits of broker times, which may come from producers: times beyond them would not be valid timestamps. */
  private static final long FIRST_MS = Instant.parse("0001-01-01T00:00:00Z").toEpochMilli();

  private static final long LAST_MS = Instant.parse("9999-12-31T23:59:59Z").toEpochMilli();

  private final int partition;
  private final PostgresSession session;
  private final RouteTable routes;
  private final LatestTable latest;
  private final CopySegments segments = new CopySegments();
  private PostgresRoll collected = new PostgresRoll(segments);
  private Storing storing;

  /** A roll being stored, with its task; the task is null after a failure. */
  private static final class Storing {
    final PostgresRoll roll;
    final Span span;
    PostgresSession.Task task;

    Storing(PostgresRoll roll, Span span) {
      this.roll = roll;
      this.span = span;
    }
  }

  /** The messages of a roll. */
  private record Span(long from, long to, long duplicates, long rejected, String source, Long lastMessage) {}

  /** Takes the partition and finds the archive's end. */
  PostgresPartition(int partition, PostgresSession session, ArchiveFeed feed) throws IOException {
    super(partition, session.options().roll(), feed);
    this.partition = partition;
    this.session = session;
    this.routes = new RouteTable(session.connection(), session.upserts(), session.schema(), partition);
    this.latest = new LatestTable(session.connection(), session.upserts(), session.schema(), partition,
        session.options().roll().bytes(), session.latestBytes());
    session.run("cannot open", () -> {
      if (!session.schema().tryLockPartition(session.connection(), partition)) {
        throw new ArchiveCollisionException("partition " + partition + " of the archive in " + session.options().url()
            + " is in use by another writer: stop that one, or give this one another archive.schema");
      }
      recover();
      session.connection().commit();
    });
  }

  /**
   * Reads the archive's end. The former writer may not have waited for the disk: locking the row writes to the server's
   * log, so that the commit waits until all before it is durable.
   */
  private void recover() throws SQLException, IOException {
    try (PreparedStatement query = session.connection().prepareStatement(
        "SELECT next, source, CASE last_message_next WHEN next THEN last_message END, refused FROM "
            + session.schema().own("positions") + " WHERE partition = ? FOR UPDATE")) {
      query.setInt(1, partition);
      try (ResultSet row = query.executeQuery()) {
        boolean isKnown = row.next();
        startAt(isKnown ? row.getLong(1) : 0, isKnown ? row.getString(2) : null,
            isKnown ? row.getObject(3, Long.class) : null);
        checkRefusal(isKnown ? row.getString(4) : null);
      }
    }
    latest.recover();
    routes.load(session.nowMs(), session.options().roll().remembered().toMillis(), this::remember);
  }

  @Override
  protected long collectedBytes() {
    return collected.bytes();
  }

  @Override
  protected long storingBytes() {
    return storing == null ? 0 : storing.roll.bytes();
  }

  @Override
  protected String prepare(BatchReader batch) throws IOException {
    if (session.catalog().knows(batch.types())) {
      return null;
    }
    String refusal = session.catalog().refusal(batch.types());
    if (refusal == null) {
      session.run("cannot make tables in", () -> session.catalog().prepare(batch.types()));
    }
    return refusal;
  }

  @Override
  protected void collect(BatchReader batch, ColumnarBatch events, RouteKey route, Position position) {
    long brokerMs = Math.max(FIRST_MS, Math.min(LAST_MS, position.brokerTimeMs()));
    session.observe(brokerMs);
    Position plausible = new Position(position.partition(), position.offset(), brokerMs);
    collected.add(batch, events, route, plausible, session.catalog(), session.partitions(), session.nowMs());
  }

  @Override
  protected void store() throws IOException {
    session.expireIfDue(); // before storing, since a failure here would leave the outcome unclear
    storeNow(collected, span());
    collectAnew();
  }

  @Override
  protected void startStoring(boolean lazily) throws IOException {
    session.expireIfDue();
    session.run(WRITE, () -> prepare(collected));
    storing = new Storing(collected, span());
    storing.task = session.start(WRITE, work(storing.roll, storing.span, lazily));
    collected = new PostgresRoll(segments);
  }

  @Override
  protected void finishStoring() throws IOException {
    PostgresSession.Task task = storing.task;
    storing.task = null;
    if (task != null) {
      task.await();
    } else {
      storeNow(storing.roll, storing.span);
    }
    storing.roll.release();
    storing = null;
    forgetSilentRoutes();
  }

  private void storeNow(PostgresRoll roll, Span span) throws IOException {
    session.run(WRITE, () -> {
      prepare(roll);
      work(roll, span, false).run();
    });
  }

  private Span span() {
    return new Span(from(), to(), duplicates(), rejected(), source(), lastMessage());
  }

  private void collectAnew() {
    collected.release();
    collected = new PostgresRoll(segments);
    forgetSilentRoutes();
  }

  private void forgetSilentRoutes() {
    routes.forgetSilent(session.nowMs() - RetiredRoutes.IDLE_MS);
  }

  private void prepare(PostgresRoll roll) throws SQLException {
    session.catalog().refreshEventsView();
    roll.prepare(session.partitions());
    session.reached(StoreStep.TABLES_READY);
  }

  /** Returns the work that stores a roll whose tables and partitions exist. */
  private PostgresSession.Work work(PostgresRoll roll, Span span, boolean lazily) {
    return () -> {
      try {
        transact(roll, span, lazily);
      } catch (SQLException | IOException | RuntimeException e) {
        routes.forget();
        throw e;
      }
    };
  }

  /** Stores a roll. If lazily, the commit does not wait for the disk; the next one that does includes it. */
  private void transact(PostgresRoll roll, Span span, boolean lazily) throws SQLException, IOException {
    movePosition(span);
    if (lazily) {
      try (Statement statement = session.connection().createStatement()) {
        statement.execute("SET LOCAL synchronous_commit = off");
      }
    }
    session.reached(StoreStep.POSITION_MOVED);
    roll.copy(session.connection(), session.schema(), session.partitions());
    latest.store(roll.latest(), span.to());
    routes.store(roll.routeEntries());
    session.reached(StoreStep.ROWS_COPIED);
    session.connection().commit();
    latest.committed();
    session.reached(StoreStep.COMMITTED);
  }

  private void movePosition(Span span) throws SQLException, IOException {
    session.schema().requireId(session.connection(), session.id());
    String table = session.schema().own("positions");
    String sql = span.from() == 0
        ? "INSERT INTO " + table + " (partition, next, duplicates, rejected, source, last_message,"
            + " last_message_next, written) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?2, now())"
            + " ON CONFLICT (partition) DO NOTHING"
        : "UPDATE " + table + " SET next = ?2, duplicates = duplicates + ?3, rejected = rejected + ?4, source = ?5,"
            + " last_message = ?6, last_message_next = ?2, refused = NULL, written = now() WHERE"
            + " partition = ?1 AND next = "
            + span.from();
    String source = span.source() == null ? "NULL" : Sql.literal(span.source());
    try (PreparedStatement move = session.connection().prepareStatement(sql
        .replace("?1", Integer.toString(partition)).replace("?2", Long.toString(span.to()))
        .replace("?3", Long.toString(span.duplicates())).replace("?4", Long.toString(span.rejected()))
        .replace("?6", String.valueOf(span.lastMessage())).replace("?5", source))) {
      if (move.executeUpdate() != 1) {
        requireEnd(span.from());
        throw new ArchiveCollisionException("another writer has already archived partition " + partition
            + " from offset " + span.from() + " in " + session.options().url()
            + ": only one may write a partition; stop one of the two");
      }
    }
  }

  /** Distinguishes an archive that was restored to an earlier state from one that another writer has written. */
  private void requireEnd(long from) throws SQLException, ArchiveUnavailableException {
    try (Statement statement = session.connection().createStatement();
        ResultSet row = statement.executeQuery("SELECT coalesce(max(next), 0) FROM "
            + session.schema().own("positions") + " WHERE partition = " + partition)) {
      row.next();
      if (row.getLong(1) < from) {
        throw new ArchiveUnavailableException("the archive in " + session.options().url() + " has changed while it was"
            + " open: partition " + partition + " went up to offset " + from + " and now ends at " + row.getLong(1)
            + "; it is opened again", null);
      }
    }
  }

  @Override
  protected Long putOffUntil() {
    return latest.putOffUntil();
  }

  @Override
  protected void lookUp(List<LateBatch> batches) throws IOException {
    session.run("cannot read", () -> {
      Connection connection = session.connection();
      try (PreparedStatement query = connection.prepareStatement("SELECT w.i, b.crc FROM unnest(?::text[], ?::int[],"
          + " ?::numeric[]) WITH ORDINALITY w(incarnation, route, sequence, i) JOIN " + session.schema().own("batches")
          + " b ON b.incarnation = w.incarnation AND b.route = w.route AND b.sequence = w.sequence AND b.partition = "
          + partition)) {
        query.setArray(1, connection.createArrayOf("text",
            batches.stream().map(batch -> batch.route().incarnation().toString()).toArray()));
        query.setArray(2, connection.createArrayOf("int", batches.stream().map(b -> b.route().route()).toArray()));
        query.setArray(3, connection.createArrayOf("numeric",
            batches.stream().map(batch -> new BigDecimal(Long.toUnsignedString(batch.sequence()))).toArray()));
        try (ResultSet rows = query.executeQuery()) {
          while (rows.next()) {
            batches.get((int) rows.getLong(1) - 1).found(rows.getObject(2, Long.class));
          }
        }
      }
      connection.commit();
    });
  }

  @Override
  protected void storeRefusal(String why) throws IOException {
    session.run(WRITE, () -> {
      try (Statement statement = session.connection().createStatement()) {
        session.schema().requireId(session.connection(), session.id());
        statement.executeUpdate("UPDATE " + session.schema().own("positions") + " SET refused = " + Sql.literal(why)
            + " WHERE partition = " + partition);
      }
      session.connection().commit();
    });
  }

  @Override
  protected String place() {
    return "in " + session.options().url();
  }

  @Override
  protected void close() throws IOException {
    session.release(partition);
    latest.forget();
  }
}
