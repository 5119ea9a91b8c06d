package io.lifeline.jobs.archive.postgres;

import io.lifeline.codec.Counter;
import io.lifeline.jobs.archive.RouteEntry;
import io.lifeline.jobs.archive.Sql;
import io.lifeline.jobs.core.RouteKey;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A partition writer's state of each route: the archived sequences and the latest counters. It distinguishes duplicates
 * from new batches after a restart.
 */
final class RouteTable {
  private static final String COLUMNS = "incarnation, route, route_name, host, program, pid, runs, batches,"
      + " archived, last_sequence, final, recovered, last_broker_time, "
      + Arrays.stream(Counter.values()).map(Counter::label).collect(Collectors.joining(", "));
  private static final String[] TYPES = Stream.concat(
      Stream.of("text", "integer", "text", "text", "text", "bigint", "text", "bigint", "bigint", "numeric", "boolean",
          "boolean", "timestamptz"),
      Arrays.stream(Counter.values()).map(counter -> "numeric")).toArray(String[]::new);
  private static final int KEY_COLUMNS = 2;

  private final Connection connection;
  private final String table;
  private final int partition;
  private final Map<RouteKey, RouteEntry> known = new HashMap<>();

  RouteTable(Connection connection, Schema schema, int partition) {
    this.connection = connection;
    this.table = schema.own("routes_by_partition");
    this.partition = partition;
  }

  /**
   * Reads the routes whose last batch is at most that much older than the newest one or than now, whichever is earlier.
   */
  void load(long nowMs, long rememberedMs, Consumer<RouteEntry> visitor) throws SQLException {
    try (PreparedStatement query = select("last_broker_time >= least(?, (SELECT max(last_broker_time) FROM " + table
        + " WHERE partition = " + partition + ")) - ? * interval '1 millisecond'")) {
      query.setTimestamp(2, new Timestamp(nowMs));
      query.setLong(3, rememberedMs);
      read(query);
    }
    known.values().forEach(visitor);
  }

  /** Adds the routes of a roll. */
  void store(List<RouteEntry> added) throws SQLException {
    find(added);
    RowArrays rows = new RowArrays(TYPES);
    List<RouteEntry> merged = new ArrayList<>();
    for (RouteEntry entry : added) {
      RouteEntry before = known.get(entry.key());
      merged.add(before == null ? entry : RouteEntry.merge(before, entry));
      rows.add(row(merged.get(merged.size() - 1)));
    }
    String updates = Arrays.stream(COLUMNS.split(", ")).skip(KEY_COLUMNS)
        .map(column -> column + " = excluded." + column).collect(Collectors.joining(", "));
    rows.execute(connection, "INSERT INTO " + table + " (partition, " + COLUMNS + ") SELECT " + partition + ", r.*"
        + " FROM " + rows.source(COLUMNS) + " ON CONFLICT (partition, incarnation, route) DO UPDATE SET " + updates);
    merged.forEach(entry -> known.put(entry.key(), entry));
  }

  /** Clears the cache, which may be ahead of the committed state after a failure. */
  void forget() {
    known.clear();
  }

  /** Removes silent routes from the cache, not from the database. */
  void forgetSilent(long sinceMs) {
    known.values().removeIf(entry -> entry.lastBrokerTimeMs() < sinceMs);
  }

  /** Reads those of the routes that are not in the cache. */
  private void find(List<RouteEntry> wanted) throws SQLException {
    List<RouteEntry> missing = wanted.stream().filter(entry -> !known.containsKey(entry.key())).toList();
    if (missing.isEmpty()) {
      return;
    }
    try (PreparedStatement query = select("(incarnation, route) IN (SELECT * FROM unnest(?::text[], ?::integer[]))")) {
      query.setArray(2, connection.createArrayOf("text", missing.stream().map(RouteEntry::incarnation).toArray()));
      query.setArray(3, connection.createArrayOf("integer", missing.stream().map(RouteEntry::route).toArray()));
      read(query);
    }
  }

  private PreparedStatement select(String condition) throws SQLException {
    PreparedStatement query = connection.prepareStatement(
        "SELECT " + COLUMNS + " FROM " + table + " WHERE partition = ? AND " + condition);
    query.setInt(1, partition);
    return query;
  }

  private void read(PreparedStatement query) throws SQLException {
    try (ResultSet row = query.executeQuery()) {
      while (row.next()) {
        List<String> counters = new ArrayList<>();
        for (Counter counter : Counter.values()) {
          counters.add(row.getBigDecimal(counter.label()).toPlainString());
        }
        RouteEntry entry = new RouteEntry(row.getString("incarnation"), row.getInt("route"),
            row.getString("route_name"), row.getString("host"), row.getString("program"), row.getLong("pid"),
            runs(row.getString("runs")), row.getLong("batches"), row.getLong("archived"),
            row.getBigDecimal("last_sequence").toPlainString(), counters, row.getBoolean("final"),
            row.getBoolean("recovered"), row.getTimestamp("last_broker_time").getTime());
        known.put(entry.key(), entry);
      }
    }
  }

  private static Object[] row(RouteEntry entry) {
    List<Object> row = new ArrayList<>(List.of(entry.incarnation(), entry.route(), Sql.clean(entry.routeName()),
        Sql.clean(entry.host()), Sql.clean(entry.program()), entry.pid(),
        entry.runs().stream().map(run -> run.get(0) + "-" + run.get(1)).collect(Collectors.joining(",")),
        entry.batches(), entry.events(), entry.lastSequence(), entry.finalBatch(), entry.recovered(),
        Instant.ofEpochMilli(entry.lastBrokerTimeMs())));
    row.addAll(entry.counters());
    return row.toArray();
  }

  private static List<List<String>> runs(String text) {
    return Arrays.stream(text.split(",")).map(run -> List.of(run.split("-"))).toList();
  }
}
