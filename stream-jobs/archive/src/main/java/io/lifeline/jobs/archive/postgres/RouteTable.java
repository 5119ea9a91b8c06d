package io.lifeline.jobs.archive.postgres;

import io.lifeline.codec.Counter;
import io.lifeline.jobs.archive.RouteEntry;
import io.lifeline.jobs.archive.Sql;
import io.lifeline.jobs.core.RouteKey;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * A partition writer's state of each route: the archived sequences and the latest counters. It distinguishes duplicates
 * from new batches after a restart.
 */
final class RouteTable {
  private static final String COLUMNS = "partition, incarnation, route, route_name, host, program, pid, runs, batches,"
      + " archived, last_sequence, final, recovered, last_broker_time, "
      + Arrays.stream(Counter.values()).map(Counter::label).collect(Collectors.joining(", "));
  private static final int KEY_COLUMNS = 3;

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
    List<RouteEntry> merged = new ArrayList<>();
    for (RouteEntry entry : added) {
      RouteEntry before = find(entry);
      merged.add(before == null ? entry : RouteEntry.merge(before, entry));
    }
    List<String> columns = Arrays.asList(COLUMNS.split(", "));
    String updates = columns.stream().skip(KEY_COLUMNS).map(column -> column + " = excluded." + column)
        .collect(Collectors.joining(", "));
    String sql = "INSERT INTO " + table + " (" + COLUMNS + ") VALUES (?" + ", ?".repeat(columns.size() - 1)
        + ") ON CONFLICT (partition, incarnation, route) DO UPDATE SET " + updates;
    try (PreparedStatement row = connection.prepareStatement(sql)) {
      for (RouteEntry entry : merged) {
        set(row, entry);
        row.addBatch();
      }
      row.executeBatch();
    }
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

  private RouteEntry find(RouteEntry wanted) throws SQLException {
    RouteEntry entry = known.get(wanted.key());
    if (entry == null) {
      try (PreparedStatement query = select("incarnation = ? AND route = ?")) {
        query.setString(2, wanted.incarnation());
        query.setInt(3, wanted.route());
        read(query);
      }
      entry = known.get(wanted.key());
    }
    return entry;
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

  private void set(PreparedStatement row, RouteEntry entry) throws SQLException {
    int at = 0;
    row.setInt(++at, partition);
    row.setString(++at, entry.incarnation());
    row.setInt(++at, entry.route());
    row.setString(++at, Sql.clean(entry.routeName()));
    row.setString(++at, Sql.clean(entry.host()));
    row.setString(++at, Sql.clean(entry.program()));
    row.setLong(++at, entry.pid());
    row.setString(++at,
        entry.runs().stream().map(run -> run.get(0) + "-" + run.get(1)).collect(Collectors.joining(",")));
    row.setLong(++at, entry.batches());
    row.setLong(++at, entry.events());
    row.setBigDecimal(++at, new BigDecimal(entry.lastSequence()));
    row.setBoolean(++at, entry.finalBatch());
    row.setBoolean(++at, entry.recovered());
    row.setTimestamp(++at, new Timestamp(entry.lastBrokerTimeMs()));
    for (String counter : entry.counters()) {
      row.setBigDecimal(++at, new BigDecimal(counter));
    }
  }

  private static List<List<String>> runs(String text) {
    return Arrays.stream(text.split(",")).map(run -> List.of(run.split("-"))).toList();
  }
}
