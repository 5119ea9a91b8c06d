package io.lifeline.jobs.archive.postgres;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import io.lifeline.codec.EventType;
import io.lifeline.jobs.archive.Json;
import io.lifeline.jobs.archive.Sql;
import io.lifeline.jobs.archive.TypeEntry;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Keeps track of the event tables and creates missing ones. Definitions are committed before the rows that need them:
 * empty tables are harmless, and a transaction must not hold the locks of thousands of new tables.
 */
final class Catalog {
  /** Limit of event types, since a hostile emitter may define any number, and each needs a view. */
  static final int MAX_TYPES = 4_000;

  /**
   * Limit of event types with a table of their own, which queries of all events plan and lock; the others share {@link
   * EventTable#SHARED}.
   */
  static final int MAX_TABLES = 500;

  static final int MAX_VERSIONS = 1_000;

  /** Maximum number of columns of a view, including constants. PostgreSQL's limit is 1,600, less for wide types. */
  static final int MAX_COLUMNS = 1_000;

  /** New types per transaction, which takes about ten locks for each; a server has room for 6,400 by default. */
  private static final int CHUNK = 100;

  private static final long REFRESH_INTERVAL_NS = 10_000_000_000L;

  private final Connection connection;
  private final Schema schema;
  private final Views views;
  private final Map<String, EventTable> tables = new LinkedHashMap<>();
  private final Map<String, EventTable.Version> byId = new HashMap<>();
  private final Map<EventType, EventTable.Version> byType = new HashMap<>();
  private boolean eventsViewIsOld;
  private long nextRefreshNs = System.nanoTime();

  Catalog(Connection connection, Schema schema) throws SQLException {
    this.connection = connection;
    this.schema = schema;
    this.views = new Views(schema);
    load();
    // The writer that created the last of these types may have died before it updated the view over all of them.
    this.eventsViewIsOld = !tables.isEmpty();
  }

  /** Returns the version of an event type; it must have been {@link #prepare}d, or {@link #knows known}. */
  EventTable.Version version(EventType type) {
    return byType.get(type);
  }

  /** Returns why there is no room for these types, or null if there is. */
  String refusal(List<EventType> types) {
    Map<String, Set<EventTable.Key>> columns = new HashMap<>();
    Map<String, Integer> versions = new HashMap<>();
    int count = tables.size();
    for (EventType type : types) {
      if (known(type)) {
        continue;
      }
      TypeEntry entry = TypeEntry.of(type);
      EventTable table = tables.get(entry.name());
      if (!columns.containsKey(entry.name())) {
        columns.put(entry.name(), table == null ? new HashSet<>() : new HashSet<>(table.columns().keySet()));
        versions.put(entry.name(), table == null ? 0 : table.versions().size());
        count += table == null ? 1 : 0;
      }
      columns.get(entry.name()).addAll(EventTable.keys(entry));
      if (versions.merge(entry.name(), 1, Integer::sum) > MAX_VERSIONS
          || columns.get(entry.name()).size() > MAX_COLUMNS) {
        return "an event type has changed its fields too often for one table";
      }
    }
    return count > MAX_TYPES ? "the archive has no room for more event types" : null;
  }

  /** Returns whether all of these types have their tables and columns, without a query. */
  boolean knows(List<EventType> types) {
    return types.stream().allMatch(this::known);
  }

  /** Creates tables and columns for all of these types. */
  void prepare(List<EventType> types) throws SQLException {
    schema.lockDefinitions(connection);
    try {
      load();
      List<EventType> left = new ArrayList<>(types.stream().filter(type -> !known(type)).toList());
      while (!left.isEmpty()) {
        List<EventType> chunk = chunk(left);
        create(chunk);
        chunk.clear();
      }
    } catch (SQLException e) {
      // The state in memory may be ahead of the committed one.
      forget();
      throw e;
    } finally {
      schema.unlockDefinitions(connection);
    }
  }

  /**
   * Returns the types that come first and get one transaction. One that changes a table gets its own: a writer that
   * copies into several tables could otherwise wait for this transaction while it waits for that writer.
   */
  private List<EventType> chunk(List<EventType> left) {
    int count = 0;
    while (count < Math.min(CHUNK, left.size()) && !tables.containsKey(TypeEntry.of(left.get(count)).name())) {
      count++;
    }
    return left.subList(0, Math.max(1, count));
  }

  private boolean known(EventType type) {
    if (byType.containsKey(type)) {
      return true;
    }
    EventTable.Version version = byId.get(TypeEntry.id(type));
    if (version != null) {
      byType.put(type, version);
    }
    return version != null;
  }

  private void create(List<EventType> types) throws SQLException {
    Set<EventTable> changed = new HashSet<>();
    try (Statement statement = connection.createStatement()) {
      for (EventType type : types) {
        if (!known(type)) { // one batch may describe a type twice
          changed.add(create(statement, type));
        }
      }
      for (EventTable table : changed) {
        views.createType(statement, table);
      }
    }
    connection.commit();
  }

  private EventTable create(Statement statement, EventType type) throws SQLException {
    TypeEntry entry = TypeEntry.of(type);
    EventTable table = tables.get(entry.name());
    boolean isNew = table == null;
    if (isNew) {
      table = newTable(statement, entry.name());
      tables.put(entry.name(), table);
    }
    Set<EventTable.Key> before = Set.copyOf(table.columns().keySet());
    EventTable.Version version = table.add(entry);
    if (table.isShared()) {
      eventsViewIsOld |= schema.createShared(statement);
    } else {
      List<String> added = table.columns().entrySet().stream()
          .filter(column -> !column.getKey().constant() && !before.contains(column.getKey()))
          .map(column -> Sql.identifier(column.getValue()) + " " + ColumnTypes.of(column.getKey().type())).toList();
      defineOwn(statement, table, isNew, added);
      eventsViewIsOld = true;
    }
    insert(version);
    byId.put(entry.id(), version);
    byType.put(type, version);
    return table;
  }

  private void defineOwn(Statement statement, EventTable table, boolean isNew, List<String> added) throws SQLException {
    if (isNew) {
      String fields = added.stream().map(column -> ", " + column).collect(Collectors.joining());
      statement.execute("CREATE TABLE " + schema.data(table.dataTable()) + " (" + EventTable.COMMON_DEFINITION + fields
          + ") PARTITION BY RANGE (ts)");
    } else if (!added.isEmpty()) {
      statement.execute("ALTER TABLE " + schema.data(table.dataTable()) + added.stream()
          .map(column -> " ADD COLUMN " + column).collect(Collectors.joining(",")));
    }
  }

  /**
   * Creates a table with a name that is free: existing relations, ours or not, are never replaced by a type of that
   * name.
   */
  private EventTable newTable(Statement statement, String name) throws SQLException {
    Set<String> viewNames = tables.values().stream().map(EventTable::view).collect(Collectors.toSet());
    String view = PostgresText.fit(name, "");
    for (String wanted = name; viewNames.contains(view) || schema.has(statement, view); ) {
      wanted = "event:" + wanted;
      view = PostgresText.fit(wanted, "");
    }
    return new EventTable(name, newDataTable(name), view);
  }

  private String newDataTable(String name) {
    Set<String> taken = tables.values().stream().map(EventTable::dataTable).collect(Collectors.toSet());
    if (taken.size() >= MAX_TABLES) {
      return EventTable.SHARED;
    }
    String dataTable = TimePartitions.fit(name);
    for (String wanted = name; taken.contains(dataTable) || TimePartitions.mayBeCalled(dataTable); ) {
      wanted += "~";
      dataTable = TimePartitions.fit(wanted);
    }
    return dataTable;
  }

  private void insert(EventTable.Version version) throws SQLException {
    TypeEntry type = version.type();
    try (PreparedStatement row = connection.prepareStatement(
        "INSERT INTO " + schema.own("types") + " VALUES (?, ?, ?, ?, ?, ?::jsonb, ?::jsonb, ?, ?, ?)")) {
      row.setString(1, type.id());
      row.setString(2, type.name());
      row.setInt(3, version.number());
      row.setString(4, type.hash());
      row.setString(5, type.level());
      row.setString(6, Json.MAPPER.writeValueAsString(type.fields()));
      row.setString(7, Json.MAPPER.writeValueAsString(type.constants()));
      row.setArray(8, connection.createArrayOf("text", version.columns().toArray()));
      row.setString(9, version.table().tableInCatalogue());
      row.setString(10, version.table().view());
      row.executeUpdate();
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("text always fits JSON", e);
    }
  }

  /** Recreates the view over all types if there are new ones; postpones it while the view is in use. */
  void refreshEventsView() throws SQLException {
    if (!eventsViewIsOld || System.nanoTime() - nextRefreshNs < 0) {
      return;
    }
    schema.lockDefinitions(connection);
    try (Statement statement = connection.createStatement()) {
      load();
      schema.waitBriefly(statement);
      views.createEvents(statement, tables.values());
      connection.commit();
      eventsViewIsOld = false;
    } catch (SQLException e) {
      if (!Database.isInUse(e)) {
        throw e;
      }
      nextRefreshNs = System.nanoTime() + REFRESH_INTERVAL_NS;
    } finally {
      schema.unlockDefinitions(connection);
    }
  }

  /** Clears the cached state, which may be wrong after a failure. */
  void forget() {
    tables.clear();
    byId.clear();
    byType.clear();
  }

  private void load() throws SQLException {
    forget();
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT id, name, version, hash, level, fields, constants, columns,"
            + " data_table, view FROM " + schema.own("types") + " ORDER BY name, version")) {
      while (rows.next()) {
        String dataTable = EventTable.fromCatalogue(rows.getString(9));
        String view = rows.getString(10);
        EventTable table =
            tables.computeIfAbsent(rows.getString(2), name -> new EventTable(name, dataTable, view));
        TypeEntry type = new TypeEntry(rows.getString(1), rows.getString(4), rows.getString(5), rows.getString(2),
            fields(rows.getString(6)), constants(rows.getString(7)));
        Array columns = rows.getArray(8);
        byId.put(type.id(), table.restore(rows.getInt(3), type, List.of((String[]) columns.getArray())));
      }
    }
  }

  /** Parses a version's fields from the table types. */
  static List<TypeEntry.FieldEntry> fields(String json) throws SQLException {
    try {
      return Json.MAPPER.readValue(json, new TypeReference<>() {});
    } catch (JsonProcessingException e) {
      throw damaged(e);
    }
  }

  /** As {@link #fields}, of its constants. */
  static List<TypeEntry.ConstantEntry> constants(String json) throws SQLException {
    try {
      return Json.MAPPER.readValue(json, new TypeReference<>() {});
    } catch (JsonProcessingException e) {
      throw damaged(e);
    }
  }

  private static SQLException damaged(JsonProcessingException cause) {
    return new SQLException("the table types of the archive is damaged: restore it from a backup", cause);
  }
}
