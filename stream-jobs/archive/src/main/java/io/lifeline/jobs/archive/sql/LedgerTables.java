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
import java.util.function.Function;
import java.util.stream.Collectors;
import org.duckdb.DuckDBAppender;
import org.duckdb.DuckDBConnection;

/**
 * The table {@code routes}, with a row per route, and {@code ledger} and {@code emitters} over it. There may be
 * millions of routes, so they are read from the manifests when a query asks for them, and merged in the database.
 */
final class LedgerTables {
  private static final Set<String> NAMES = Set.of("routes", "ledger", "emitters");
  private static final String SCHEMA = "filling";
  private static final String TABLE = "entries";
  private static final String ENTRIES = SCHEMA + "." + TABLE;

  private static final List<Counter> DROPS =
      Arrays.stream(Counter.values()).filter(counter -> counter.label().startsWith("dropped_")).toList();

  private final DuckDBConnection connection;
  private final Preparation preparation;
  private final ArchiveDirectory directory;
  private final Collection<String> manifests;
  private boolean isFilled;

  /** @param manifests names of all manifests */
  LedgerTables(DuckDBConnection connection, Preparation preparation, ArchiveDirectory directory,
      Collection<String> manifests) throws SQLException {
    this.connection = connection;
    this.preparation = preparation;
    this.directory = directory;
    this.manifests = List.copyOf(manifests);
    preparation.execute("CREATE TABLE routes (incarnation VARCHAR, route USMALLINT, route_name VARCHAR,"
        + " host VARCHAR, program VARCHAR, pid UINTEGER, batches UBIGINT, archived UBIGINT, last_sequence UBIGINT,"
        + " missing_batches UBIGINT, final BOOLEAN, recovered BOOLEAN, last_broker_time TIMESTAMP, "
        + eachCounter(counter -> counter.label() + " UBIGINT") + ")");
    String dropped = DROPS.stream().map(drop -> drop.label() + "::HUGEINT").collect(Collectors.joining(" + "));
    preparation.execute("CREATE VIEW ledger AS SELECT incarnation, route, route_name, host, program, pid, emitted,"
        + " archived, " + dropped + " AS dropped, emitted::HUGEINT - archived - (" + dropped + ") AS missing,"
        + " missing_batches, batches, last_sequence, final, recovered, last_broker_time, "
        + Arrays.stream(Counter.values()).skip(1).map(Counter::label).collect(Collectors.joining(", "))
        + " FROM routes");
    preparation.execute("CREATE VIEW emitters AS SELECT incarnation, any_value(host) AS host, any_value(program) AS"
        + " program, any_value(pid) AS pid, count(*) AS routes, sum(batches)::UBIGINT AS batches,"
        + " sum(archived)::UBIGINT AS archived, bool_and(final) AS final, bool_or(recovered) AS recovered,"
        + " max(last_broker_time) AS last_broker_time FROM routes GROUP BY incarnation");
  }

  private static String eachCounter(Function<Counter, String> sql) {
    return Arrays.stream(Counter.values()).map(sql).collect(Collectors.joining(", "));
  }

  /** Fills the tables if the name is that of one of them. */
  void provide(String table) throws SQLException {
    if (!isFilled && NAMES.contains(table.toLowerCase(Locale.ROOT))) {
      try {
        fill();
        isFilled = true;
      } catch (IOException e) {
        throw new SQLException(e.getMessage(), e);
      } finally {
        clear();
      }
    }
  }

  /** Not as a part of the preparation, which may be cancelled. */
  private void clear() throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("DROP SCHEMA IF EXISTS " + SCHEMA + " CASCADE");
    }
  }

  /**
   * Each manifest has an entry for a route: the newest says most, but only the sums count all. The newest is found by
   * its row: an aggregate for each of its columns takes several times as long.
   */
  private void fill() throws IOException, SQLException {
    preparation.execute("CREATE SCHEMA " + SCHEMA);
    preparation.execute("CREATE TABLE " + ENTRIES + " (incarnation VARCHAR, route USMALLINT, route_name VARCHAR,"
        + " host VARCHAR, program VARCHAR, pid UINTEGER, batches UBIGINT, archived UBIGINT, last_sequence UBIGINT,"
        + " final BOOLEAN, recovered BOOLEAN, last_broker_ms BIGINT, counters UBIGINT[" + Counter.values().length
        + "])");
    try (DuckDBAppender rows = connection.createAppender(SCHEMA, TABLE)) {
      for (String name : manifests) {
        Manifests.forEachRoute(directory, name, route -> {
          preparation.check();
          append(rows, route);
        });
      }
    }
    preparation.execute("INSERT INTO routes SELECT incarnation, route, route_name, host, program, pid, all_batches,"
        + " all_archived, last_sequence, greatest(last_sequence::HUGEINT - all_batches, 0), any_final, any_recovered,"
        + " epoch_ms(newest_ms), " + eachCounter(counter -> "counters[" + (counter.ordinal() + 1) + "]")
        + " FROM (SELECT arg_max(rowid, last_sequence) AS newest, sum(batches) AS all_batches, sum(archived) AS"
        + " all_archived, bool_or(final) AS any_final, bool_or(recovered) AS any_recovered, max(last_broker_ms) AS"
        + " newest_ms FROM " + ENTRIES + " GROUP BY incarnation, route) JOIN " + ENTRIES + " entry"
        + " ON entry.rowid = newest ORDER BY incarnation, route");
  }

  private static void append(DuckDBAppender rows, RouteEntry route) throws SQLException {
    rows.beginRow().append(route.incarnation()).append((short) route.route()).append(route.routeName())
        .append(route.host()).append(route.program()).append((int) route.pid()).append(route.batches())
        .append(route.events()).append(Long.parseUnsignedLong(route.lastSequence())).append(route.finalBatch())
        .append(route.recovered()).append(route.lastBrokerTimeMs())
        .append(Arrays.stream(Counter.values()).mapToLong(route::counter).toArray()).endRow();
  }
}
