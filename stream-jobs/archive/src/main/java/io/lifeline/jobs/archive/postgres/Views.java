package io.lifeline.jobs.archive.postgres;

import io.lifeline.codec.Counter;
import io.lifeline.codec.FieldType;
import io.lifeline.jobs.archive.SessionViews;
import io.lifeline.jobs.archive.Sql;
import io.lifeline.jobs.archive.TypeEntry;
import io.lifeline.jobs.core.JsonWriter;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Creates the views, with the same names and columns as those of a Parquet archive. Columns are only added at the end
 * of a view, so that it can be replaced while other views depend on it.
 */
final class Views {
  /** Computed as numeric: the earliest nanoseconds lie in a microsecond that is out of range for bigint nanoseconds. */
  private static final String TS_NS = "(extract(epoch FROM r.ts) * 1000000000 + r.\"@ns\")::bigint";
  private static final String THREAD =
      "(CASE WHEN r.thread < 0 THEN 18446744073709551616 ELSE 0 END + r.thread)::numeric";
  private static final String ORIGIN = "b.host, b.program, b.pid, %s AS thread, b.incarnation, b.route, b.sequence,"
      + " %s.event_index";

  /** The views over sessions. */
  static final List<String> SESSIONS = List.of("session_members", "sessions", "session_events");

  /**
   * The events that sessions are made of, as views in the schema of the events: over all types, each query of sessions
   * would plan all of them many times. They are named like partitions of a day that does not exist: neither a partition
   * nor an event type's table can have such a name.
   */
  static final String MARKS = ":00000001";

  private static final String HOSTS = ":00000002";

  private static final String IS_MARK = "%s IN ('" + SessionViews.START + "', '" + SessionViews.END + "')";
  private static final String IS_OF_HOST = "%s LIKE '" + SessionViews.HOST_TYPES + "%%'";

  private final Schema schema;

  Views(Schema schema) {
    this.schema = schema;
  }

  /** Creates the views that do not depend on event types; events is empty for now. */
  void createFixed(Statement statement) throws SQLException {
    createRoutes(statement);
    createEvents(statement, List.of());
    statement.execute("CREATE VIEW " + schema.own("lifelines") + " AS SELECT id, row_number() OVER path AS step, ts,"
        + " ts_ns, type, level, host, program, pid, thread, incarnation, route, sequence, event_index,"
        + " ts_ns - lag(ts_ns) OVER path AS since_previous_ns, ts_ns - first_value(ts_ns) OVER path AS since_first_ns,"
        + " fields FROM " + schema.own("events") + " WHERE id IS NOT NULL"
        + " WINDOW path AS (PARTITION BY id ORDER BY ts_ns, incarnation, route, sequence, event_index)");
    createSessions(statement);
  }

  /** Creates the views over sessions, or replaces them. Their columns do not depend on event types. */
  void createSessions(Statement statement) throws SQLException {
    createPart(statement, MARKS, IS_MARK);
    createPart(statement, HOSTS, IS_OF_HOST);
    SessionViews sessions = new SessionViews("SELECT * FROM " + schema.own("events"),
        "SELECT * FROM " + schema.data(MARKS), "SELECT * FROM " + schema.data(HOSTS), schema.own("batches"),
        "(SELECT name FROM " + schema.own("types") + " WHERE 'session' = ANY (columns))", "ts_ns", "broker_time",
        "(extract(epoch FROM broker_time) * 1000000000)::bigint");
    for (Map.Entry<String, String> view
        : sessions.sql(schema.own("session_members"), schema.own("sessions")).entrySet()) {
      statement.execute("CREATE OR REPLACE VIEW " + schema.own(view.getKey()) + " AS " + view.getValue());
    }
  }

  /** Until {@link #createEvents} is called next, with the types. */
  private void createPart(Statement statement, String view, String isPart) throws SQLException {
    statement.execute("CREATE OR REPLACE VIEW " + schema.data(view) + " AS SELECT * FROM " + schema.own("events")
        + " WHERE " + String.format(Locale.ROOT, isPart, "type"));
  }

  private void createRoutes(Statement statement) throws SQLException {
    String newest = "(array_agg(%1$s ORDER BY last_sequence DESC))[1] AS %1$s";
    String counters =
        Arrays.stream(Counter.values()).map(c -> String.format(Locale.ROOT, newest, c.label()))
            .collect(Collectors.joining(", "));
    statement.execute("CREATE VIEW " + schema.own("routes") + " AS SELECT incarnation, route, "
        + List.of("route_name", "host", "program", "pid").stream().map(newest::formatted)
            .collect(Collectors.joining(", "))
        + ", sum(batches)::bigint AS batches, sum(archived)::bigint AS archived, max(last_sequence) AS last_sequence,"
        + " max(last_sequence) - sum(batches) AS missing_batches, bool_or(final) AS final, bool_or(recovered) AS"
        + " recovered, max(last_broker_time) AS last_broker_time, " + counters + " FROM "
        + schema.own("routes_by_partition") + " GROUP BY incarnation, route");
    String dropped = Arrays.stream(Counter.values()).map(Counter::label).filter(label -> label.startsWith("dropped_"))
        .collect(Collectors.joining(" + "));
    statement.execute("CREATE VIEW " + schema.own("ledger") + " AS SELECT incarnation, route, route_name, host,"
        + " program, pid, emitted, archived, " + dropped + " AS dropped, emitted - archived - (" + dropped
        + ") AS missing, missing_batches, batches, last_sequence, final, recovered, last_broker_time, "
        + Arrays.stream(Counter.values()).skip(1).map(Counter::label).collect(Collectors.joining(", ")) + " FROM "
        + schema.own("routes"));
    statement.execute("CREATE VIEW " + schema.own("emitters") + " AS SELECT incarnation, min(host) AS host,"
        + " min(program) AS program, min(pid) AS pid, count(*) AS routes, sum(batches)::bigint AS batches,"
        + " sum(archived)::bigint AS archived, bool_and(final) AS final, bool_or(recovered) AS recovered,"
        + " max(last_broker_time) AS last_broker_time FROM " + schema.own("routes") + " GROUP BY incarnation");
  }

  /** Creates the view of one event type. Counting its rows does not read the batches. */
  void createType(Statement statement, EventTable table) throws SQLException {
    StringBuilder select = new StringBuilder("SELECT r.ts, " + TS_NS + " AS ts_ns, "
        + (table.isShared() ? "r.\"@level\"" : level(table)) + " AS level, "
        + String.format(Locale.ROOT, ORIGIN, THREAD, "r"));
    table.columns().forEach((key, column) ->
        select.append(", ").append(value(table, key, column)).append(" AS ").append(Sql.identifier(column)));
    statement.execute("CREATE OR REPLACE VIEW " + schema.own(table.view()) + " AS " + select + " FROM "
        + schema.data(table.dataTable()) + " r LEFT JOIN " + schema.own("batches") + " b ON b.batch = r.\"@batch\""
        + (table.isShared() ? " WHERE r.\"@type\" = " + Sql.literal(table.name()) : ""));
  }

  private static String value(EventTable table, EventTable.Key key, String column) {
    if (table.isShared()) {
      return "(r.\"@fields\"->>" + Sql.literal(column) + ")::" + ColumnTypes.of(key.type());
    }
    return key.constant() ? constant(table, key) : "r." + Sql.identifier(column);
  }

  /** Creates the view over all types, and those over the types that sessions are made of. */
  void createEvents(Statement statement, Collection<EventTable> tables) throws SQLException {
    createEvents(statement, schema.own("events"), tables, type -> true, "true");
    if (Schema.hasRelation(statement, schema.data(MARKS))) {
      createEvents(statement, schema.data(MARKS), tables, SessionViews.MARKS::contains, IS_MARK);
      createEvents(statement, schema.data(HOSTS), tables, type -> type.startsWith(SessionViews.HOST_TYPES), IS_OF_HOST);
    }
  }

  /**
   * Creates a view over some types. Each leg has a WHERE, so that it is planned as a separate query: PostgreSQL would
   * merge simpler legs into one query of all tables and their partitions, whose planning takes time and memory
   * quadratic in their number.
   *
   * @param isShown the same as {@code isShownSql}, which applies to the types that share a table
   */
  private void createEvents(Statement statement, String view, Collection<EventTable> tables,
      Predicate<String> isShown, String isShownSql) throws SQLException {
    List<String> legs = new ArrayList<>();
    tables.stream().filter(table -> !table.isShared() && isShown.test(table.name()))
        .forEach(table -> legs.add(leg(table.dataTable(), Sql.literal(table.name()) + "::text", level(table), id(table),
            fields(table)) + "true"));
    if (tables.stream().anyMatch(EventTable::isShared)) {
      legs.add(leg(EventTable.SHARED, "r.\"@type\"", "r.\"@level\"", "r.\"@id\"", "r.\"@fields\"")
          + String.format(Locale.ROOT, isShownSql, "r.\"@type\""));
    }
    if (legs.isEmpty()) {
      legs.add("SELECT NULL::timestamptz AS ts, NULL::bigint AS ts_ns, NULL::text AS type, NULL::text AS level,"
          + " NULL::bigint AS thread, NULL::bigint AS batch, NULL::integer AS event_index, NULL::text AS id,"
          + " NULL::jsonb AS fields WHERE false");
    }
    statement.execute("CREATE OR REPLACE VIEW " + view + " AS SELECT r.ts, r.ts_ns, r.type, r.level, "
        + String.format(Locale.ROOT, ORIGIN, THREAD, "r") + ", r.id, r.fields FROM (" + String.join(" UNION ALL ", legs)
        + ") r LEFT JOIN " + schema.own("batches") + " b ON b.batch = r.batch");
  }

  private String leg(String dataTable, String type, String level, String id, String fields) {
    return "SELECT r.ts, " + TS_NS + " AS ts_ns, " + type + " AS type, " + level + " AS level, r.thread,"
        + " r.\"@batch\" AS batch, r.event_index, " + id + " AS id, " + fields + " AS fields FROM "
        + schema.data(dataTable) + " r WHERE ";
  }

  private static String level(EventTable table) {
    List<String> levels = table.versions().stream().map(version -> version.type().level()).distinct().toList();
    return levels.size() == 1
        ? Sql.literal(levels.get(0)) + "::text"
        : byVersion(table, version -> Sql.literal(version.type().level()) + "::text");
  }

  private static String constant(EventTable table, EventTable.Key key) {
    return byVersion(table, version -> version.type().constants().stream()
        .filter(constant -> constant.name().equals(key.name()) && constant.fieldType() == key.type())
        .map(ColumnTypes::literal).findFirst().orElse("NULL"));
  }

  private interface ByVersion {
    String sql(EventTable.Version version);
  }

  private static String byVersion(EventTable table, ByVersion value) {
    return table.versions().stream()
        .map(version -> " WHEN " + version.number() + " THEN " + value.sql(version))
        .collect(Collectors.joining("", "CASE r.\"@version\"", " END"));
  }

  /** Returns the ID that ties events to lifelines: the field id of any type but bytes. */
  private static String id(EventTable table) {
    List<String> columns = table.columns().entrySet().stream()
        .filter(column -> column.getKey().name().equals("id") && !column.getKey().constant()
            && column.getKey().type() != FieldType.BYTES)
        .map(column -> "r." + Sql.identifier(column.getValue()) + "::text").toList();
    return columns.isEmpty() ? "NULL::text" : "coalesce(" + String.join(", ", columns) + ")";
  }

  /** Returns all fields and constants as JSON, without those that a version does not have. */
  private static String fields(EventTable table) {
    String fields =
        "jsonb_strip_nulls(to_jsonb(r) - ARRAY['ts', 'thread', '@batch', 'event_index', '@ns', '@version'])";
    boolean constants = table.versions().stream().anyMatch(version -> !version.type().constants().isEmpty());
    return constants ? fields + " || " + byVersion(table, Views::constantsJson) : fields;
  }

  private static String constantsJson(EventTable.Version version) {
    JsonWriter json = new JsonWriter().beginObject();
    List<String> names = version.columns().subList(version.type().fields().size(), version.columns().size());
    for (int i = 0; i < names.size(); i++) {
      TypeEntry.ConstantEntry constant = version.type().constants().get(i);
      json.name(names.get(i));
      PostgresJson.constant(json, constant);
    }
    return Sql.literal(json.endObject().toString()) + "::jsonb";
  }
}
