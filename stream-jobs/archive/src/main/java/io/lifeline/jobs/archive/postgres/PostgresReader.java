package io.lifeline.jobs.archive.postgres;

import io.lifeline.codec.FieldType;
import io.lifeline.jobs.archive.ArchiveException;
import io.lifeline.jobs.archive.ArchiveReader;
import io.lifeline.jobs.archive.Sql;
import io.lifeline.jobs.archive.TimeSpan;
import io.lifeline.jobs.archive.TypeEntry;
import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.stream.Collectors;

/** Read-only access to a PostgreSQL archive, whose views are available under their names. */
public final class PostgresReader implements ArchiveReader {
  private final Connection connection;
  private Map<String, View> views;

  /** The view of an event type, its fields by name, and all columns of each. */
  private record View(String name, Map<String, TypeEntry.FieldEntry> fields,
      Map<String, Map<String, FieldType>> columns) {}

  private PostgresReader(Connection connection) {
    this.connection = connection;
  }

  /** Opens an existing archive. */
  public static PostgresReader open(PostgresOptions options) throws IOException {
    return new PostgresReader(connect(options));
  }

  /**
   * As {@link #open}, for queries of strangers: as a role that can only read.
   *
   * @param limitMs after which the server ends a query; 0 for no limit
   */
  public static PostgresReader openForStrangers(PostgresOptions options, long limitMs) throws IOException {
    return new PostgresReader(connect(options, statement -> {
      ReaderRole.require(statement.getConnection(), options);
      statement.execute("SET statement_timeout = " + limitMs);
    }));
  }

  /** Connects to an existing archive, whose views are found by their names. */
  static Connection connect(PostgresOptions options) throws IOException {
    return connect(options, statement -> {});
  }

  /** Prepares a new connection. */
  private interface Preparation {
    void run(Statement statement) throws SQLException, IOException;
  }

  private static Connection connect(PostgresOptions options, Preparation preparation) throws IOException {
    Connection connection = Database.connect(options);
    try (Statement statement = connection.createStatement()) {
      connection.setReadOnly(true);
      statement.execute("SET search_path = \"" + options.schema().replace("\"", "\"\"") + "\", pg_catalog");
      try (ResultSet row = statement.executeQuery("SELECT to_regclass('archive') IS NULL")) {
        row.next();
        if (row.getBoolean(1)) {
          throw new ArchiveException("there is no archive in the schema " + options.schema() + " of " + options.url()
              + ": set --archive to archive.url of the jobs, and --schema to archive.schema");
        }
      }
      preparation.run(statement);
      connection.commit(); // the settings outlive the rollback after a failed query
      return connection;
    } catch (SQLException e) {
      close(connection);
      throw Database.translated("cannot open", options, e);
    } catch (IOException e) {
      close(connection);
      throw e;
    }
  }

  static void close(Connection connection) {
    try {
      connection.close();
    } catch (SQLException e) {
      // The connection is unusable anyway.
    }
  }

  @Override
  public PreparedStatement prepare(String sql) throws SQLException {
    SingleQuery.require(sql);
    return connection.prepareStatement(sql);
  }

  /** An open transaction would keep its locks, and its failure would refuse all further queries. */
  @Override
  public void endQuestion() throws SQLException {
    connection.rollback();
  }

  @Override
  public Set<String> eventTypes() throws SQLException {
    return views().keySet();
  }

  @Override
  public String viewOf(String eventType) throws SQLException {
    View view = views().get(eventType);
    return view == null ? null : view.name();
  }

  @Override
  public boolean has(String eventType, String field) throws SQLException {
    View view = views().get(eventType);
    return view != null && view.columns().containsKey(field);
  }

  @Override
  public String text(String eventType, String field) throws SQLException {
    return coalesced(eventType, field, (column, type) -> column + "::text");
  }

  @Override
  public String integer(String eventType, String field) throws SQLException {
    return coalesced(eventType, field, PostgresReader::bigint);
  }

  @Override
  public String real(String eventType, String field) throws SQLException {
    return coalesced(eventType, field, PostgresReader::real);
  }

  @Override
  public List<TypeEntry.FieldEntry> fields(String eventType) throws SQLException {
    View view = views().get(eventType);
    return view == null ? List.of() : List.copyOf(view.fields().values());
  }

  @Override
  public String timeNs() {
    return "ts_ns";
  }

  /** Of whole microseconds for the partitions, and of nanoseconds. */
  @Override
  public String within(long fromNs, long toNs) {
    return "ts BETWEEN " + micros(fromNs) + " AND " + micros(toNs) + " AND ts_ns BETWEEN " + fromNs + " AND " + toNs;
  }

  /** Counts in one partition of time after the other. */
  @Override
  public TimeSpan newest(long events) throws SQLException {
    long toNs = TimeSpan.ALL.toNs();
    long counted = 0;
    try (Statement statement = connection.createStatement();
        ResultSet starts = statement.executeQuery("SELECT DISTINCT number * partition_s * 1000000000 FROM"
            + " time_partitions, archive WHERE number <> " + TimePartitions.OTHER + " ORDER BY 1 DESC")) {
      while (starts.next()) {
        long fromNs = starts.getLong(1);
        counted += count(new TimeSpan(fromNs, toNs));
        if (counted >= events) {
          return new TimeSpan(fromNs, TimeSpan.ALL.toNs());
        }
        toNs = fromNs - 1;
      }
    }
    return TimeSpan.ALL;
  }

  private long count(TimeSpan span) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT count(*) FROM " + events(span) + " AS e")) {
      row.next();
      return row.getLong(1);
    }
  }

  private static String micros(long ns) {
    return "timestamptz 'epoch' + interval '" + Math.floorDiv(ns, 1_000L) + " microseconds'";
  }

  /** Returns the value of a field, which has one column for each type it ever had; only one of them is not null. */
  private String coalesced(String eventType, String field, BiFunction<String, FieldType, String> value)
      throws SQLException {
    return views().get(eventType).columns().get(field).entrySet().stream()
        .map(column -> value.apply(Sql.identifier(column.getKey()), column.getValue()))
        .collect(Collectors.joining(", ", "coalesce(", ")"));
  }

  private static String real(String column, FieldType type) {
    return switch (type) {
      case BOOL -> column + "::integer::double precision";
      case STRING -> "CASE WHEN " + column + " ~ '^[-+]?[0-9]{1,18}([.][0-9]{1,18})?$' THEN " + column
          + "::double precision END";
      case BYTES -> "NULL::double precision";
      default -> column + "::double precision";
    };
  }

  private static String bigint(String column, FieldType type) {
    return switch (type) {
      case I32, I64, U32 -> column + "::bigint";
      case BOOL -> column + "::integer::bigint";
      case U64, F32, F64 -> "CASE WHEN " + column + " BETWEEN -9.2e18 AND 9.2e18 THEN " + column + "::bigint END";
      case STRING -> "CASE WHEN " + column + " ~ '^[-+]?[0-9]{1,18}$' THEN " + column + "::bigint END";
      case BYTES -> "NULL::bigint";
    };
  }

  private Map<String, View> views() throws SQLException {
    if (views == null) {
      views = new TreeMap<>();
      try (Statement statement = connection.createStatement();
          ResultSet rows = statement.executeQuery("SELECT name, view, fields, columns FROM types ORDER BY version")) {
        while (rows.next()) {
          String name = rows.getString(2);
          View view = views.computeIfAbsent(rows.getString(1),
              type -> new View(name, new LinkedHashMap<>(), new HashMap<>()));
          String[] columns = (String[]) rows.getArray(4).getArray();
          List<TypeEntry.FieldEntry> fields = Catalog.fields(rows.getString(3));
          for (int i = 0; i < fields.size(); i++) {
            view.fields().putIfAbsent(fields.get(i).name(), fields.get(i));
            view.columns().computeIfAbsent(fields.get(i).name(), field -> new LinkedHashMap<>())
                .put(columns[i], fields.get(i).fieldType());
          }
        }
      }
    }
    return views;
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }
}
