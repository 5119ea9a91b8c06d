package io.lifeline.jobs.archive.postgres;

import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.core.RouteKey;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.Map;

/** How many events of each route were stored, partitions that retention has dropped included. */
final class PostgresCounts {
  private static final String UNDEFINED_TABLE = "42P01";

  private final PostgresOptions options;

  PostgresCounts(PostgresOptions options) {
    this.options = options;
  }

  /** The events archived so far; an archive that does not exist yet holds none. */
  Map<RouteKey, Long> count() throws IOException {
    Map<RouteKey, Long> events = new HashMap<>();
    try (Connection connection = Database.connect(options);
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT incarnation, route, sum(archived) FROM "
            + new Schema(options).own("routes_by_partition") + " GROUP BY incarnation, route")) {
      while (rows.next()) {
        events.put(new RouteKey(Incarnation.parse(rows.getString(1)), rows.getInt(2)), rows.getLong(3));
      }
      return events;
    } catch (SQLException e) {
      if (UNDEFINED_TABLE.equals(e.getSQLState())) {
        return Map.of();
      }
      throw Database.translated("cannot read", options, e);
    }
  }
}
