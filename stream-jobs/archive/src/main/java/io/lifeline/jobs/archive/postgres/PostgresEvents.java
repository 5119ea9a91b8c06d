package io.lifeline.jobs.archive.postgres;

import io.lifeline.jobs.archive.EventCursor;
import io.lifeline.jobs.archive.EventReader;
import io.lifeline.jobs.archive.EventRows;
import io.lifeline.jobs.archive.EventSelection;
import io.lifeline.jobs.archive.FieldsReader;
import io.lifeline.jobs.archive.Sql;
import io.lifeline.jobs.archive.TypeEntry;
import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Reads the events of a PostgreSQL archive in order of time, in one transaction with a cursor; the server sorts. */
public final class PostgresEvents implements EventReader {
  private static final int FETCH_ROWS = 2_000;

  private final Connection connection;

  private PostgresEvents(Connection connection) {
    this.connection = connection;
  }

  /** Opens an existing archive. */
  public static PostgresEvents open(PostgresOptions options) throws IOException {
    Connection connection = PostgresReader.connect(options);
    try {
      connection.setAutoCommit(false); // the driver uses a cursor only in a transaction
      connection.commit(); // of connecting
      connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
      return new PostgresEvents(connection);
    } catch (SQLException e) {
      PostgresReader.close(connection);
      throw Database.translated("cannot read", options, e);
    }
  }

  @Override
  public Set<String> eventTypes() throws SQLException {
    return versions().stream().map(version -> version.getKey().name()).collect(Collectors.toSet());
  }

  @Override
  public EventCursor read(EventSelection selection) throws SQLException {
    Sql.requireWhole(selection.where());
    Map<String, List<FieldsReader>> versions = new HashMap<>();
    Set<String> types = new HashSet<>();
    for (Map.Entry<TypeEntry, List<String>> version : versions()) {
      TypeEntry type = version.getKey();
      if (selection.selectsType(type.name())) {
        types.add(type.name());
        versions.computeIfAbsent(key(type.name(), type.level()), key -> new ArrayList<>())
            .add(new FieldsReader(type, version.getValue()));
      }
    }
    String sql = "SELECT " + EventRows.columns("ts_ns", "type") + " FROM events"
        + selection.clause(conditions(selection, types)) + " ORDER BY ts_ns, " + EventRows.ORDER;
    PreparedStatement query = connection.prepareStatement(sql);
    query.setFetchSize(FETCH_ROWS);
    return new EventRows(query, types, (type, level, fields) -> decode(versions.get(key(type, level)), type, fields));
  }

  private static String key(String type, String level) {
    return level + ' ' + type;
  }

  /** Returns the values by the version whose columns the event has. Versions with equal columns differ in units. */
  private static EventRows.Decoded decode(List<FieldsReader> versions, String type, String fields)
      throws SQLException {
    for (int i = 0; versions != null && i < versions.size(); i++) {
      FieldsReader version = versions.get(i);
      Object[] values = version.read(fields);
      if (values != null) {
        if (i > 0) { // the next events are likely to be of the same version
          versions.set(i, versions.set(0, version));
        }
        return new EventRows.Decoded(version.type(), values);
      }
    }
    throw new SQLException("an event of the type " + type + " has the fields of no version in the table types:"
        + " restore the archive from a backup");
  }

  /** The microseconds of the column let the server skip partitions. */
  private static List<String> conditions(EventSelection selection, Set<String> types) {
    List<String> conditions = new ArrayList<>();
    if (!selection.types().isEmpty()) {
      conditions.add(types.isEmpty() ? "false"
          : "type IN (" + types.stream().map(Sql::literal).collect(Collectors.joining(", ")) + ")");
    }
    if (selection.sinceNs() != null) {
      conditions.add("ts >= " + micros(selection.sinceNs()) + " AND ts_ns >= " + number(selection.sinceNs()));
    }
    if (selection.untilNs() != null) {
      conditions.add("ts <= " + micros(selection.untilNs()) + " AND ts_ns < " + number(selection.untilNs()));
    }
    return conditions;
  }

  private static String micros(long ns) {
    return Sql.literal(Instant.ofEpochSecond(Math.floorDiv(ns, 1_000_000_000L),
        Math.floorMod(ns, 1_000_000_000L) / 1_000 * 1_000).toString()) + "::timestamptz";
  }

  /** A literal, since the smallest number is no expression of PostgreSQL's bigint. */
  private static String number(long ns) {
    return "'" + ns + "'::bigint";
  }

  private List<Map.Entry<TypeEntry, List<String>>> versions() throws SQLException {
    List<Map.Entry<TypeEntry, List<String>>> versions = new ArrayList<>();
    try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(
        "SELECT id, hash, level, name, fields, constants, columns FROM types ORDER BY name, version DESC")) {
      while (rows.next()) {
        versions.add(Map.entry(
            new TypeEntry(rows.getString(1), rows.getString(2), rows.getString(3), rows.getString(4),
                Catalog.fields(rows.getString(5)), Catalog.constants(rows.getString(6))),
            List.of((String[]) rows.getArray(7).getArray())));
      }
    }
    return versions;
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }
}
