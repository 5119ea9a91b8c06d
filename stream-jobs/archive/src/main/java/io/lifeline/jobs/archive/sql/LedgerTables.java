package io.lifeline.jobs.archive.sql;

import io.lifeline.codec.Counter;
import io.lifeline.jobs.archive.RouteEntry;
import java.math.BigInteger;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;

/** Creates {@code ledger} and {@code emitters} from the manifests' data on each route. */
final class LedgerTables {
  private static final List<Counter> DROPS =
      Arrays.stream(Counter.values()).filter(counter -> counter.label().startsWith("dropped_")).toList();

  private LedgerTables() {}

  static void create(Connection connection, Collection<RouteEntry> routes) throws SQLException {
    String counters = Arrays.stream(Counter.values())
        .map(counter -> counter.label() + " UBIGINT").collect(Collectors.joining(", "));
    try (Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE routes (incarnation VARCHAR, route USMALLINT, route_name VARCHAR, host VARCHAR,"
          + " program VARCHAR, pid UINTEGER, batches UBIGINT, archived UBIGINT, last_sequence UBIGINT,"
          + " missing_batches UBIGINT, final BOOLEAN, recovered BOOLEAN, last_broker_time TIMESTAMP, " + counters
          + ")");
      insert(connection, routes);
      String dropped = DROPS.stream().map(drop -> drop.label() + "::HUGEINT").collect(Collectors.joining(" + "));
      statement.execute("CREATE VIEW ledger AS SELECT incarnation, route, route_name, host, program, pid, emitted,"
          + " archived, " + dropped + " AS dropped, emitted::HUGEINT - archived - (" + dropped + ") AS missing,"
          + " missing_batches, batches, last_sequence, final, recovered, last_broker_time, "
          + Arrays.stream(Counter.values()).skip(1).map(Counter::label).collect(Collectors.joining(", "))
          + " FROM routes");
      statement.execute("CREATE VIEW emitters AS SELECT incarnation, any_value(host) AS host, any_value(program) AS"
          + " program, any_value(pid) AS pid, count(*) AS routes, sum(batches)::UBIGINT AS batches,"
          + " sum(archived)::UBIGINT AS archived, bool_and(final) AS final, bool_or(recovered) AS recovered,"
          + " max(last_broker_time) AS last_broker_time FROM routes GROUP BY incarnation");
    }
  }

  private static void insert(Connection connection, Collection<RouteEntry> routes) throws SQLException {
    String places = "?, ".repeat(12) + "epoch_ms(?::BIGINT)" + ", ?".repeat(Counter.values().length);
    try (PreparedStatement row = connection.prepareStatement("INSERT INTO routes VALUES (" + places + ")")) {
      for (RouteEntry route : routes) {
        int at = 0;
        row.setString(++at, route.incarnation());
        row.setInt(++at, route.route());
        row.setString(++at, route.routeName());
        row.setString(++at, route.host());
        row.setString(++at, route.program());
        row.setLong(++at, route.pid());
        row.setLong(++at, route.batches());
        row.setLong(++at, route.events());
        row.setObject(++at, new BigInteger(route.lastSequence()));
        row.setObject(++at, new BigInteger(Long.toUnsignedString(route.missingBatches())));
        row.setBoolean(++at, route.finalBatch());
        row.setBoolean(++at, route.recovered());
        row.setLong(++at, route.lastBrokerTimeMs());
        for (Counter counter : Counter.values()) {
          row.setObject(++at, new BigInteger(Long.toUnsignedString(route.counter(counter))));
        }
        row.executeUpdate();
      }
    }
  }
}
