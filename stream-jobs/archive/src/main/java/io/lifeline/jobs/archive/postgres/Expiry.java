package io.lifeline.jobs.archive.postgres;

import io.lifeline.jobs.archive.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Deletes what is older than the retention: partitions of events as a whole, other rows in slices. A call does a
 * limited number of steps, each of limited size and in a transaction of its own, and the next call continues where it
 * stopped. So the writer is not held up for long, however large the archive, and a failure undoes no more than a step.
 * Steps skip what other transactions lock: several writers may do the same at once, without waiting for each other.
 */
final class Expiry {
  /** After this many partitions in use, the others are not tried: a backup uses all of them. */
  private static final int MOST_IN_USE = 10;

  /** How long to wait for a partition: a backup may use it for hours, and new readers wait behind the drop. */
  private static final int DROP_WAIT_MS = 20;

  /** Batches deleted in a step. */
  private static final int SLICE_ROWS = 1_000;

  /** Blocks searched in a step in a table without an index on time: 1 MiB. */
  private static final long SLICE_BLOCKS = 128;

  private static final String FIRST = "-infinity";

  private final Connection connection;
  private final Schema schema;
  private final TimePartitions partitions;
  private final int maxSteps;

  /** Batches before this time are deleted: their entries in the index slow down scans until a vacuum. */
  private String batchesDeletedTo = FIRST;

  private final Deque<Search> searches = new ArrayDeque<>();

  /** Rows to delete from a table without an index on time. */
  private static final class Search {
    final String table;
    final String condition;
    long block;

    Search(String table, String condition) {
      this.table = table;
      this.condition = condition;
    }
  }

  /** A step; returns whether there is nothing left to do of its kind. */
  private interface Step {
    boolean run(Statement statement) throws SQLException;
  }

  /** @param maxSteps steps of each kind in a call */
  Expiry(Connection connection, Schema schema, TimePartitions partitions, int maxSteps) {
    this.connection = connection;
    this.schema = schema;
    this.partitions = partitions;
    this.maxSteps = maxSteps;
  }

  /**
   * Drops partitions that end before the retention, deletes batches and latest events before it, and from the default
   * partitions the events that were received before it. Partitions in use are left for a later call. Commits.
   *
   * @return whether nothing is left to do now
   */
  boolean run(Duration retention, long nowMs) throws SQLException {
    String cutoff = partitions.startOf(nowMs - retention.toMillis());
    try (Statement statement = connection.createStatement()) {
      boolean isComplete = dropSome(statement, cutoff);
      isComplete &= repeat(statement, s -> deleteBatches(s, cutoff));
      if (searches.isEmpty()) {
        startSearches(statement, cutoff);
      }
      return repeat(statement, this::search) && isComplete;
    }
  }

  private boolean repeat(Statement statement, Step step) throws SQLException {
    for (int i = 0; i < maxSteps; i++) {
      boolean isDone = step.run(statement);
      connection.commit();
      if (isDone) {
        return true;
      }
    }
    return false;
  }

  /** Returns whether nothing is left to do but what is in use; not if another writer is changing definitions. */
  private boolean dropSome(Statement statement, String cutoff) throws SQLException {
    if (!schema.tryLockDefinitions(connection)) {
      connection.rollback();
      return false;
    }
    try {
      int dropped = 0;
      int inUse = 0;
      for (String name : names(statement, "ends <= " + cutoff)) {
        if (dropped == maxSteps) {
          return false;
        }
        if (drop(statement, name)) {
          dropped++;
        } else if (++inUse == MOST_IN_USE) {
          return true;
        }
      }
      return true;
    } finally {
      partitions.forget();
      schema.unlockDefinitions(connection);
    }
  }

  /** Drops a partition in its own transaction, so that one in use by a long query does not block the others. */
  private boolean drop(Statement statement, String name) throws SQLException {
    try {
      Schema.waitAtMost(statement, DROP_WAIT_MS);
      statement.execute("DROP TABLE IF EXISTS " + schema.data(name)); // somebody else may have dropped it
      statement.execute("DELETE FROM " + schema.own("time_partitions") + " WHERE partition = " + Sql.literal(name));
      connection.commit();
      return true;
    } catch (SQLException e) {
      if (!Database.isInUse(e)) {
        throw e;
      }
      connection.rollback();
      return false;
    }
  }

  /**
   * Events may be one partition ahead of their batch, so batches are kept longer. An archive of an earlier release
   * keeps them until it has the index, without which each step would read the whole table.
   */
  private boolean deleteBatches(Statement statement, String cutoff) throws SQLException {
    if (!MissingIndexes.isReady(statement, schema, Schema.BROKER_TIME_INDEX)) {
      return true;
    }
    String batches = schema.own("batches");
    String end = cutoff + " - interval '" + 2 * partitions.length().toSeconds() + " seconds'";
    try (ResultSet row = statement.executeQuery("WITH old AS (SELECT ctid, broker_time FROM " + batches
        + " WHERE broker_time >= '" + batchesDeletedTo + "' AND broker_time < " + end + " ORDER BY broker_time LIMIT "
        + SLICE_ROWS + " FOR UPDATE SKIP LOCKED), deleted AS (" + delete(batches, "SELECT ctid FROM old")
        + ") SELECT count(*), max(broker_time) FROM old")) {
      row.next();
      boolean isDone = row.getInt(1) < SLICE_ROWS;
      batchesDeletedTo = isDone ? FIRST : row.getString(2);
      return isDone;
    }
  }

  /** Deletes by the rows' places: as a join, PostgreSQL might read the whole table to find a slice of it. */
  private static String delete(String table, String places) {
    return "DELETE FROM " + table + " WHERE ctid = ANY (ARRAY(" + places + "))";
  }

  private void startSearches(Statement statement, String cutoff) throws SQLException {
    searches.add(new Search(schema.own("latest"), "r.ts < " + cutoff));
    String receivedBefore = "coalesce((SELECT b.broker_time < " + cutoff + " FROM " + schema.own("batches")
        + " b WHERE b.batch = r.\"@batch\"), true)";
    names(statement, "ends IS NULL").forEach(name -> searches.add(new Search(schema.data(name), receivedBefore)));
  }

  private boolean search(Statement statement) throws SQLException {
    Search search = searches.element();
    long end = search.block + SLICE_BLOCKS;
    statement.executeUpdate(delete(search.table, "SELECT ctid FROM " + search.table + " r WHERE ctid >= '("
        + search.block + ",0)' AND ctid < '(" + end + ",0)' AND " + search.condition
        + " FOR UPDATE OF r SKIP LOCKED"));
    search.block = end;
    if (end >= blocks(statement, search.table)) {
      searches.remove();
    }
    return searches.isEmpty();
  }

  private static long blocks(Statement statement, String table) throws SQLException {
    try (ResultSet row = statement.executeQuery("SELECT pg_relation_size(" + Sql.literal(table)
        + "::regclass) / current_setting('block_size')::bigint")) {
      row.next();
      return row.getLong(1);
    }
  }

  private List<String> names(Statement statement, String condition) throws SQLException {
    List<String> names = new ArrayList<>();
    try (ResultSet rows = statement.executeQuery(
        "SELECT partition FROM " + schema.own("time_partitions") + " WHERE " + condition + " ORDER BY ends")) {
      while (rows.next()) {
        names.add(rows.getString(1));
      }
    }
    return names;
  }
}
