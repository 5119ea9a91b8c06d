package io.lifeline.jobs.archive.postgres;

import io.lifeline.codec.Counter;
import io.lifeline.jobs.archive.RouteEntry;
import io.lifeline.jobs.archive.Sql;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A partition writer's state of each route: the archived sequences and the latest counters. It distinguishes duplicates
 * from new batches after a restart. Routes that are still written to are cached.
 */
final class RouteTable {
  private static final String COLUMNS = Stream.concat(
      Stream.of("partition integer", "incarnation text", "route integer", "route_name text", "host text",
          "program text", "pid bigint", "runs text", "batches bigint", "archived bigint", "last_sequence numeric",
          "final boolean", "recovered boolean", "last_broker_time timestamptz"),
      Arrays.stream(Counter.values()).map(counter -> counter.label() + " numeric")).collect(Collectors.joining(", "));

  /** The partition, which no other writer writes, the incarnation and the route. */
  private static final int KEY_COLUMNS = 3;

  private static final int FETCH_ROWS = 1_000;

  private static final Comparator<RouteEntry> ORDER =
      Comparator.comparing(RouteEntry::incarnation).thenComparing(RouteEntry::route);

  private final Connection connection;
  private final Upserts upserts;
  private final Upserts.Table table;
  private final int partition;
  private final Map<String, RouteEntry> known = new HashMap<>();

  RouteTable(Connection connection, Upserts upserts, Schema schema, int partition) {
    this.connection = connection;
    this.upserts = upserts;
    this.table = Upserts.Table.of(schema.own("routes_by_partition"), "staged_routes", COLUMNS, KEY_COLUMNS, "true");
    this.partition = partition;
  }

  /**
   * Reads the routes whose last batch is at most that much older than the newest one or than now, whichever is earlier.
   */
  void load(long nowMs, long rememberedMs, Consumer<RouteEntry> visitor) throws SQLException {
    try (PreparedStatement query = select("last_broker_time >= least(?, (SELECT max(last_broker_time) FROM "
        + table.name() + " WHERE partition = " + partition + ")) - ? * interval '1 millisecond'")) {
      query.setTimestamp(2, new Timestamp(nowMs));
      query.setLong(3, rememberedMs);
      read(query, visitor);
    }
  }

  /** Adds the routes of a roll. */
  void store(List<RouteEntry> added) throws SQLException {
    find(added);
    List<RouteEntry> merged = added.stream().map(this::merged).sorted(ORDER).toList();
    upserts.store(table, merged, this::row);
    merged.forEach(entry -> known.put(key(entry), entry));
  }

  private RouteEntry merged(RouteEntry entry) {
    RouteEntry before = known.get(key(entry));
    return before == null ? entry : RouteEntry.merge(before, entry);
  }

  private static String key(RouteEntry entry) {
    return entry.incarnation() + "-" + entry.route();
  }

  /** Clears the cache, which may be ahead of the committed state after a failure. */
  void forget() {
    known.clear();
  }

  /** Removes routes that have ended or are silent from the cache, not from the database. */
  void forgetSilent(long sinceMs) {
    known.values().removeIf(entry -> entry.finalBatch() || entry.lastBrokerTimeMs() < sinceMs);
  }

  /** Reads those of the routes that are not in the cache. */
  private void find(List<RouteEntry> wanted) throws SQLException {
    List<RouteEntry> missing = wanted.stream().filter(entry -> !known.containsKey(key(entry))).toList();
    if (missing.isEmpty()) {
      return;
    }
    try (PreparedStatement query =
        select("(incarnation, route) IN (SELECT * FROM unnest(?::text[], ?::integer[]))")) {
      query.setArray(2, connection.createArrayOf("text", missing.stream().map(RouteEntry::incarnation).toArray()));
      query.setArray(3, connection.createArrayOf("integer", missing.stream().map(RouteEntry::route).toArray()));
      read(query, entry -> known.put(key(entry), entry));
    }
  }

  private PreparedStatement select(String condition) throws SQLException {
    PreparedStatement query = connection.prepareStatement(
        "SELECT " + table.names() + " FROM " + table.name() + " WHERE partition = ? AND " + condition);
    query.setInt(1, partition);
    return query;
  }

  private static void read(PreparedStatement query, Consumer<RouteEntry> visitor) throws SQLException {
    query.setFetchSize(FETCH_ROWS);
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
        visitor.accept(entry);
      }
    }
  }

  private Object[] row(RouteEntry entry) {
    List<Object> row = new ArrayList<>(List.of(partition, entry.incarnation(), entry.route(),
        Sql.clean(entry.routeName()), Sql.clean(entry.host()), Sql.clean(entry.program()), entry.pid(),
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
