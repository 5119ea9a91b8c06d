package io.lifeline.jobs.archive.postgres;

import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.core.RouteKey;
import io.lifeline.jobs.core.ledger.ArchivedEvents;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.Map;

/** Counts the stored events of each route, including those in partitions that retention has dropped. */
final class PostgresCounts implements ArchivedEvents {
  private static final String UNDEFINED_TABLE = "42P01";

  private final PostgresOptions options;
  private Connection connection;
  private Map<Integer, Long> ends = Map.of();

  PostgresCounts(PostgresOptions options) {
    this.options = options;
  }

  /** Returns the events archived so far; none if the archive does not exist yet. */
  @Override
  public Map<RouteKey, Long> count() throws IOException {
    if (connection == null) {
      connection = Database.connect(options);
    }
    try (Statement statement = connection.createStatement()) {
      Map<Integer, Long> readEnds = readEnds(statement); // first, or events before them might not be counted
      Map<RouteKey, Long> events = readEvents(statement);
      connection.rollback(); // nothing was changed; leave no transaction open
      ends = readEnds;
      return events;
    } catch (SQLException e) {
      close();
      if (UNDEFINED_TABLE.equals(e.getSQLState())) {
        return Map.of();
      }
      throw Database.translated("cannot read", options, e);
    }
  }

  private Map<Integer, Long> readEnds(Statement statement) throws SQLException {
    Map<Integer, Long> read = new HashMap<>();
    String positions = new Schema(options).own("positions");
    try (ResultSet rows = statement.executeQuery("SELECT partition, next FROM " + positions)) {
      while (rows.next()) {
        read.put(rows.getInt(1), rows.getLong(2));
      }
    }
    return read;
  }

  private Map<RouteKey, Long> readEvents(Statement statement) throws SQLException {
    Map<RouteKey, Long> read = new HashMap<>();
    try (ResultSet rows = statement.executeQuery("SELECT incarnation, route, sum(archived) FROM "
        + new Schema(options).own("routes_by_partition") + " GROUP BY incarnation, route")) {
      while (rows.next()) {
        read.put(new RouteKey(Incarnation.parse(rows.getString(1)), rows.getInt(2)), rows.getLong(3));
      }
    }
    return read;
  }

  @Override
  public Map<Integer, Long> ends() {
    return ends;
  }

  @Override
  public void close() {
    try {
      if (connection != null) {
        connection.close();
      }
    } catch (SQLException e) {
      // The connection is unusable anyway.
    }
    connection = null;
  }
}
