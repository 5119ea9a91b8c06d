package io.lifeline.jobs.archive.postgres;

import io.lifeline.jobs.archive.Sql;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Locale;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates indexes that an archive of an earlier release lacks. On a large table this takes long, so it uses a separate
 * thread and connection, and does not block readers or writers; without the indexes the archive works, only slower. If
 * interrupted, it is retried when an archive is opened next.
 */
final class MissingIndexes {
  private static final Logger LOG = LoggerFactory.getLogger(MissingIndexes.class);

  private MissingIndexes() {}

  /** Starts the creation if any index is missing. */
  static void make(PostgresOptions options, Schema schema, Connection connection) throws SQLException {
    boolean missing = false;
    try (Statement statement = connection.createStatement()) {
      for (String index : Schema.INDEXES.keySet()) {
        missing |= !isReady(statement, schema, index);
      }
    }
    if (missing) {
      Thread thread = new Thread(() -> makeAll(options, schema), "archive-indexes");
      thread.setDaemon(true);
      thread.start();
    }
  }

  /** Returns whether queries can use the index. */
  static boolean isReady(Statement statement, Schema schema, String index) throws SQLException {
    return state(statement, schema, index) == State.READY;
  }

  private enum State { ABSENT, BROKEN, READY }

  private static State state(Statement statement, Schema schema, String index) throws SQLException {
    String name = "to_regclass(" + Sql.literal(schema.own(index)) + ")";
    try (ResultSet row = statement.executeQuery("SELECT " + name + " IS NOT NULL,"
        + " EXISTS (SELECT FROM pg_index WHERE indexrelid = " + name + " AND NOT indisvalid)")) {
      row.next();
      return row.getBoolean(2) ? State.BROKEN : row.getBoolean(1) ? State.READY : State.ABSENT;
    }
  }

  private static void makeAll(PostgresOptions options, Schema schema) {
    try (Connection connection = Database.connect(options); Statement statement = connection.createStatement()) {
      connection.setAutoCommit(true); // CONCURRENTLY cannot run in a transaction
      connection.setNetworkTimeout(Runnable::run, 0);
      statement.execute("SET lock_timeout = 0"); // this waits without blocking others
      if (schema.tryLockIndexes(connection)) {
        for (Map.Entry<String, String> index : Schema.INDEXES.entrySet()) {
          make(options, schema, statement, index.getKey(), index.getValue());
        }
      }
    } catch (SQLException | IOException e) {
      LOG.warn("an index of the archive in {} could not be created, which makes queries slower; it is retried when "
          + "the archive is next opened: {}", options.url(), e.getMessage());
    }
  }

  private static void make(PostgresOptions options, Schema schema, Statement statement, String index, String on)
      throws SQLException {
    State state = state(statement, schema, index);
    if (state == State.READY) {
      return;
    }
    LOG.info("the archive in {} gets the index {}, while it is read and written: how far that is, the server says in"
        + " pg_stat_progress_create_index", options.url(), index);
    long start = System.nanoTime();
    if (state == State.BROKEN) { // an earlier attempt was interrupted
      statement.execute("DROP INDEX CONCURRENTLY " + schema.own(index));
    }
    statement.execute("CREATE INDEX CONCURRENTLY " + Sql.identifier(index)
        + String.format(Locale.ROOT, on, schema.own("batches")));
    LOG.info("the index {} is ready after {} s", index, (System.nanoTime() - start) / 1_000_000_000);
  }
}
