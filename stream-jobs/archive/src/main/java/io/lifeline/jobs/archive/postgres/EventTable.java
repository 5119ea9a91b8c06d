package io.lifeline.jobs.archive.postgres;

import io.lifeline.codec.FieldType;
import io.lifeline.jobs.archive.TypeEntry;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The table of one event type, whose versions share it, or its part of the table that many types share. A version is a
 * type of that name with its own level, fields and constants. A column belongs to one name and type: a field whose type
 * changes gets a new column, such as {@code size:f64}, and no column ever changes.
 */
final class EventTable {
  /** Other columns of the table and its view, and PostgreSQL's system columns. */
  private static final Set<String> RESERVED = Set.of("ts", "ts_ns", "level", "host", "program", "pid", "thread",
      "incarnation", "route", "sequence", "event_index", "@batch", "@ns", "@version",
      "tableoid", "xmin", "cmin", "xmax", "cmax", "ctid");

  /**
   * The table of the types that have none of their own. No type's table can have this name: it is that of the default
   * partition of a type without a name.
   */
  static final String SHARED = ":other";

  /**
   * What the catalogue says instead. There is no such table: a program of an earlier release that has the archive open
   * would take the shared table for that of one type, change its columns and show its rows in views as of one type. So
   * its statements fail, and its users read this name.
   */
  static final String SHARED_IN_CATALOGUE = ":other of version 3";

  static final List<String> SHARED_COLUMNS = List.of("@type", "@level", "@id", "@fields");

  static final String SHARED_DEFINITION =
      "\"@type\" text NOT NULL, \"@level\" text NOT NULL, \"@id\" text, \"@fields\" jsonb NOT NULL";

  /** The columns of every table, in an order that needs no padding. */
  static final String COMMON_COLUMNS = "ts, thread, \"@batch\", event_index, \"@ns\", \"@version\"";

  static final int COMMON_COLUMN_COUNT = 6;

  static final String COMMON_DEFINITION = "ts timestamptz NOT NULL, thread bigint NOT NULL, \"@batch\" bigint NOT NULL,"
      + " event_index integer NOT NULL, \"@ns\" smallint NOT NULL, \"@version\" smallint NOT NULL";

  /** A field or a constant; a constant is a column of the view but not of the table. */
  record Key(String name, FieldType type, boolean constant) {}

  /**
   * One version.
   *
   * @param columns columns of its fields and then its constants, in the descriptor's order
   */
  record Version(EventTable table, int number, TypeEntry type, List<String> columns) {
    List<String> fieldColumns() {
      return columns.subList(0, type.fields().size());
    }
  }

  private final String name;
  private final String dataTable;
  private final String view;
  private final Map<Key, String> columns = new LinkedHashMap<>();
  private final Set<String> taken = new HashSet<>(RESERVED);
  private final List<Version> versions = new ArrayList<>();

  EventTable(String name, String dataTable, String view) {
    this.name = name;
    this.dataTable = dataTable;
    this.view = view;
  }

  /** Returns the name of the event type. */
  String name() {
    return name;
  }

  String dataTable() {
    return dataTable;
  }

  /** Returns the name of the table in the catalogue. */
  String tableInCatalogue() {
    return isShared() ? SHARED_IN_CATALOGUE : dataTable;
  }

  /** Returns the table that the catalogue names so. */
  static String fromCatalogue(String name) {
    return name.equals(SHARED_IN_CATALOGUE) ? SHARED : name;
  }

  /** Returns whether its rows are in the table {@link #SHARED}. */
  boolean isShared() {
    return dataTable.equals(SHARED);
  }

  String view() {
    return view;
  }

  List<Version> versions() {
    return versions;
  }

  /** Returns the columns of the view, in the order in which they were added. */
  Map<Key, String> columns() {
    return columns;
  }

  /** Adds a version read from the catalogue. */
  Version restore(int number, TypeEntry type, List<String> names) {
    List<Key> keys = keys(type);
    for (int i = 0; i < keys.size(); i++) {
      columns.putIfAbsent(keys.get(i), names.get(i));
      taken.add(names.get(i));
    }
    Version version = new Version(this, number, type, List.copyOf(names));
    versions.add(version);
    return version;
  }

  /** Adds a new version, and its new columns to {@link #columns}. */
  Version add(TypeEntry type) {
    List<String> names = new ArrayList<>();
    for (Key key : keys(type)) {
      names.add(columns.computeIfAbsent(key, this::newName));
    }
    Version version = new Version(this, versions.size() + 1, type, List.copyOf(names));
    versions.add(version);
    return version;
  }

  /** Returns the fields and constants that the type needs columns for. */
  static List<Key> keys(TypeEntry type) {
    List<Key> keys = new ArrayList<>();
    type.fields().forEach(field -> keys.add(new Key(field.name(), field.fieldType(), false)));
    type.constants().forEach(constant -> keys.add(new Key(constant.name(), constant.fieldType(), true)));
    return keys;
  }

  private String newName(Key key) {
    String prefix = key.constant() ? "constant_" : "field_";
    String wanted = RESERVED.contains(key.name()) ? prefix + key.name() : key.name();
    String column = PostgresText.fit(wanted, "");
    if (!taken.add(column)) {
      column = PostgresText.fit(wanted, ":" + key.type().label());
      while (!taken.add(column)) {
        wanted = prefix + wanted;
        column = PostgresText.fit(wanted, ":" + key.type().label());
      }
    }
    return column;
  }
}
