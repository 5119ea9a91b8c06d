package io.lifeline.jobs.archive.sql;

import io.lifeline.codec.Counter;
import io.lifeline.jobs.archive.RouteEntry;
import io.lifeline.jobs.archive.parquet.ArchiveDirectory;
import io.lifeline.jobs.archive.parquet.Manifests;
import java.io.IOException;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.duckdb.DuckDBAppender;
import org.duckdb.DuckDBConnection;

/**
 * The table {@code routes}, with a row per route, and {@code ledger} and {@code emitters} over it. There may be
 * millions of routes, so they are read from the manifests when a query asks for them, and merged in the database.
 */
final class LedgerTables {
  private static final Set<String> NAMES = Set.of("routes", "ledger", "emitters");
  private static final String SCHEMA = "filling";
  private static final String ENTRIES = "entries";

  private static final List<Counter> DROPS =
      Arrays.stream(Counter.values()).filter(counter -> counter.label().startsWith("dropped_")).toList();

  private final DuckDBConnection connection;
  private final ArchiveDirectory directory;
  private final Collection<String> manifests;
  private boolean isFilled;

  /** @param manifests names of all manifests */
  LedgerTables(DuckDBConnection connection, ArchiveDirectory directory, Collection<String> manifests)
      throws SQLException {
    this.connection = connection;
    this.directory = directory;
    this.manifests = List.copyOf(manifests);
    execute("CREATE TABLE routes (incarnation VARCHAR, route USMALLINT, route_name VARCHAR, host VARCHAR,"
        + " program VARCHAR, pid UINTEGER, batches UBIGINT, archived UBIGINT, last_sequence UBIGINT,"
        + " missing_batches UBIGINT, final BOOLEAN, recovered BOOLEAN, last_broker_time TIMESTAMP, "
        + eachCounter(" UBIGINT") + ")");
    String dropped = DROPS.stream().map(drop -> drop.label() + "::HUGEINT").collect(Collectors.joining(" + "));
    execute("CREATE VIEW ledger AS SELECT incarnation, route, route_name, host, program, pid, emitted,"
        + " archived, " + dropped + " AS dropped, emitted::HUGEINT - archived - (" + dropped + ") AS missing,"
        + " missing_batches, batches, last_sequence, final, recovered, last_broker_time, "
        + Arrays.stream(Counter.values()).skip(1).map(Counter::label).collect(Collectors.joining(", "))
        + " FROM routes");
    execute("CREATE VIEW emitters AS SELECT incarnation, any_value(host) AS host, any_value(program) AS"
        + " program, any_value(pid) AS pid, count(*) AS routes, sum(batches)::UBIGINT AS batches,"
        + " sum(archived)::UBIGINT AS archived, bool_and(final) AS final, bool_or(recovered) AS recovered,"
        + " max(last_broker_time) AS last_broker_time FROM routes GROUP BY incarnation");
  }

  private void execute(String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static String eachCounter(String sql) {
    return Arrays.stream(Counter.values()).map(counter -> counter.label() + sql).collect(Collectors.joining(", "));
  }

  /** Fills the tables if the name is that of one of them. */
  void provide(String table) throws SQLException {
    if (!isFilled && NAMES.contains(table.toLowerCase(Locale.ROOT))) {
      try {
        fill();
      } catch (IOException e) {
        throw new SQLException(e.getMessage(), e);
      } finally {
        execute("DROP SCHEMA IF EXISTS " + SCHEMA + " CASCADE");
      }
      isFilled = true;
    }
  }

  /** Each manifest has an entry for a route: the newest says most, but only the sums count all. */
  private void fill() throws IOException, SQLException {
    execute("CREATE SCHEMA " + SCHEMA);
    execute("CREATE TABLE " + SCHEMA + "." + ENTRIES + " (incarnation VARCHAR, route USMALLINT, route_name VARCHAR,"
        + " host VARCHAR, program VARCHAR, pid UINTEGER, batches UBIGINT, archived UBIGINT, last_sequence UBIGINT,"
        + " final BOOLEAN, recovered BOOLEAN, last_broker_ms BIGINT, " + eachCounter(" UBIGINT") + ")");
    try (DuckDBAppender rows = connection.createAppender(SCHEMA, ENTRIES)) {
      for (String name : manifests) {
        Manifests.forEachRoute(directory, name, route -> append(rows, route));
      }
    }
    execute("INSERT INTO routes SELECT incarnation, route, " + newest(Stream.of("route_name", "host", "program", "pid"))
        + ", sum(batches), sum(archived), max(last_sequence),"
        + " greatest(max(last_sequence)::HUGEINT - sum(batches), 0), bool_or(final), bool_or(recovered),"
        + " epoch_ms(max(last_broker_ms)), " + newest(Arrays.stream(Counter.values()).map(Counter::label))
        + " FROM " + SCHEMA + "." + ENTRIES + " GROUP BY incarnation, route ORDER BY incarnation, route");
  }

  private static String newest(Stream<String> columns) {
    return columns.map(column -> "arg_max(" + column + ", last_sequence)").collect(Collectors.joining(", "));
  }

  private static void append(DuckDBAppender rows, RouteEntry route) throws SQLException {
    rows.beginRow().append(route.incarnation()).append((short) route.route()).append(route.routeName())
        .append(route.host()).append(route.program()).append((int) route.pid()).append(route.batches())
        .append(route.events()).append(Long.parseUnsignedLong(route.lastSequence())).append(route.finalBatch())
        .append(route.recovered()).append(route.lastBrokerTimeMs());
    for (Counter counter : Counter.values()) {
      rows.append(route.counter(counter));
    }
    rows.endRow();
  }
}
