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

  PostgresCounts(PostgresOptions options) {
    this.options = options;
  }

  /** Returns the events archived so far; none if the archive does not exist yet. */
  @Override
  public Map<RouteKey, Long> count() throws IOException {
    if (connection == null) {
      connection = Database.connect(options);
    }
    Map<RouteKey, Long> events = new HashMap<>();
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT incarnation, route, sum(archived) FROM "
            + new Schema(options).own("routes_by_partition") + " GROUP BY incarnation, route")) {
      while (rows.next()) {
        events.put(new RouteKey(Incarnation.parse(rows.getString(1)), rows.getInt(2)), rows.getLong(3));
      }
      connection.rollback(); // nothing was changed; leave no transaction open
      return events;
    } catch (SQLException e) {
      close();
      if (UNDEFINED_TABLE.equals(e.getSQLState())) {
        return Map.of();
      }
      throw Database.translated("cannot read", options, e);
    }
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
