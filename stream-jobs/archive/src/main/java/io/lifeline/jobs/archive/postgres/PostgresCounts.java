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

/** How many events of each route were stored, partitions that retention has dropped included. */
final class PostgresCounts implements ArchivedEvents {
  private static final String UNDEFINED_TABLE = "42P01";

  private final PostgresOptions options;
  private Connection connection;

  PostgresCounts(PostgresOptions options) {
    this.options = options;
  }

  /** The events archived so far; an archive that does not exist yet holds none. */
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
      connection.rollback(); // nothing was changed, and no transaction is left open
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
      // It is of no use any more.
    }
    connection = null;
  }
}
