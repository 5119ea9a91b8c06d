package io.lifeline.jobs.archive.sql;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lifeline.jobs.archive.ArchiveReader;
import io.lifeline.jobs.archive.ColumnNames;
import io.lifeline.jobs.archive.DuckDb;
import io.lifeline.jobs.archive.SessionViews;
import io.lifeline.jobs.archive.Sql;
import io.lifeline.jobs.archive.TimeSpan;
import io.lifeline.jobs.archive.TypeEntry;
import io.lifeline.jobs.archive.parquet.ArchiveDirectory;
import io.lifeline.jobs.archive.parquet.BatchRows;
import io.lifeline.jobs.archive.parquet.Manifest;
import io.lifeline.jobs.archive.parquet.Manifests;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.duckdb.DuckDBConnection;

/**
 * A read-only in-memory SQL database of an archive: one view per event type under its own name, {@code events} over all
 * types, {@code lifelines} of the events that share an id, {@code sessions} and {@code session_events}, {@code
 * batches}, {@code ledger} and {@code emitters}. It shows the archive as of the manifests at the time of opening.
 * Queries can read no files except the archive's data files.
 */
public final class ArchiveDatabase implements ArchiveReader {
  private static final Set<String> OWN_VIEWS = Set.of("events", "lifelines", "batches", "ledger", "emitters", "routes",
      "session_members", "sessions", "session_events");

  private static final ObjectMapper MAPPER = new ObjectMapper();

  /** See {@link #reserved}: the same in every database of this process, and slow to find out. */
  private static volatile Set<String> reserved;

  private final Connection connection;
  private final List<Manifest> manifests;
  private final Map<String, String> paths;
  private final LedgerTables ledger;
  private final Preparation preparation;

  /** In a transaction, in which nothing can be changed. */
  private boolean isReading;

  /** Views not yet created, by lower-case name: their SQL names all files, and creating a view opens them. */
  private final Map<String, View> pending;

  private record View(String name, Supplier<String> sql, List<String> needs) {}

  /** The view of each event type. */
  private final Map<String, String> viewByType;

  /** The versions of each event type. */
  private final Map<String, List<TypeEntry>> versions = new HashMap<>();

  private ArchiveDatabase(Connection connection, List<Manifest> manifests, Map<String, String> paths,
      LedgerTables ledger, Preparation preparation, Map<String, View> views, Map<String, String> viewByType) {
    this.connection = connection;
    this.manifests = manifests;
    this.paths = paths;
    this.ledger = ledger;
    this.preparation = preparation;
    this.pending = views;
    this.viewByType = viewByType;
    Set<String> known = new HashSet<>();
    manifests.stream().flatMap(manifest -> manifest.types().stream()).filter(type -> known.add(type.id()))
        .forEach(type -> versions.computeIfAbsent(type.name(), name -> new ArrayList<>()).add(type));
  }

  /** Opens an existing archive. */
  public static ArchiveDatabase open(Path root) throws IOException, SQLException {
    return open(root, null, TimeSpan.ALL);
  }

  /**
   * Opens an existing archive.
   *
   * @param memoryBytes what queries may use; those that need more fail. Null for most of the machine's memory
   * @param span times that the views over events are limited to; other files are not read
   */
  public static ArchiveDatabase open(Path root, Long memoryBytes, TimeSpan span) throws IOException, SQLException {
    ArchiveDirectory directory = new ArchiveDirectory(root);
    Map<String, Manifest> byName = Manifests.readExisting(directory);
    List<Manifest> manifests = List.copyOf(byName.values());
    Map<String, String> paths = directory.locate(manifests);
    DuckDBConnection connection = DuckDb.open();
    try (Statement statement = connection.createStatement()) {
      Map<String, View> views = new LinkedHashMap<>();
      Map<String, String> viewByType = describe(manifests, paths, span, views, reserved(statement));
      Preparation preparation = new Preparation(connection);
      LedgerTables ledger = new LedgerTables(connection, preparation, directory, byName.keySet());
      statement.execute("SET temp_directory = ''");
      statement.execute("SET parquet_metadata_cache = true"); // a view, its query and the next one open the same files
      if (memoryBytes != null) {
        statement.execute("SET memory_limit = '" + (memoryBytes >> 20) + " MiB'");
      }
      confine(statement, directory);
      return new ArchiveDatabase(connection, manifests, paths, ledger, preparation, views, viewByType);
    } catch (SQLException | RuntimeException e) {
      connection.close();
      throw e;
    }
  }

  /** Restricts a database to the archive's data files. */
  static void confine(Statement statement, ArchiveDirectory directory) throws SQLException {
    statement.execute("SET allowed_directories = " + Sql.literals(List.of(directory.data() + "/")));
    statement.execute("SET enable_external_access = false");
    statement.execute("SET lock_configuration = true");
  }

  /** Returns names that no event type's view may have: ours, and those that statements such as SHOW TABLES read. */
  private static Set<String> reserved(Statement statement) throws SQLException {
    if (reserved != null) {
      return reserved;
    }
    Set<String> names = new HashSet<>(OWN_VIEWS);
    try (ResultSet rows = statement.executeQuery("SELECT lower(view_name) FROM duckdb_views() WHERE internal AND"
        + " schema_name IN ('main', 'pg_catalog')")) {
      while (rows.next()) {
        names.add(rows.getString(1));
      }
    }
    reserved = Set.copyOf(names);
    return reserved;
  }

  /** Adds all views; returns the view of each event type. */
  private static Map<String, String> describe(
      List<Manifest> manifests, Map<String, String> paths, TimeSpan span, Map<String, View> views,
      Set<String> reserved) {
    List<String> batchFiles = batchFiles(manifests, paths);
    EventViews events = new EventViews(manifests, paths, span);
    Map<String, String> viewByType = events.viewNames(reserved);
    viewByType.forEach((type, view) -> put(views, view, () -> events.ofType(type)));
    put(views, "events", events::all);
    put(views, "lifelines", () -> EventViews.LIFELINES, "events");
    if (!batchFiles.isEmpty()) {
      put(views, "batches", () -> BatchRows.read(batchFiles));
      List<String> needs = new ArrayList<>(List.of("events", "batches"));
      sessionViews(new EventViews(manifests, paths, TimeSpan.ALL)).forEach((name, sql) -> {
        put(views, name, () -> sql, needs.toArray(String[]::new));
        needs.add(name);
      });
    }
    return viewByType;
  }

  static List<String> batchFiles(List<Manifest> manifests, Map<String, String> paths) {
    return manifests.stream().flatMap(manifest -> manifest.files().stream())
        .filter(file -> file.kind() == Manifest.Kind.BATCHES).map(file -> paths.get(file.name())).toList();
  }

  /** Returns the SQL of the views over sessions by name, each of which needs those before and events and batches. */
  static Map<String, String> sessionViews(EventViews events) {
    String marks = events.versions(events.ids(SessionViews.MARKS::contains));
    String hosts = events.versions(events.ids(name -> name.startsWith(SessionViews.HOST_TYPES)));
    List<String> withSession = events.types().stream()
        .filter(type -> type.fields().stream().anyMatch(field -> field.name().equals("session")))
        .map(TypeEntry::name).distinct().toList();
    String sessionTypes = withSession.isEmpty() ? "('')"
        : withSession.stream().map(Sql::literal).collect(Collectors.joining(", ", "(", ")"));
    SessionViews sessions = new SessionViews("SELECT * FROM events", marks, hosts, "batches", sessionTypes,
        "epoch_ns(ts)", "broker_time::TIMESTAMP_NS", "epoch_ns(broker_time)");
    return sessions.sql("session_members", "sessions");
  }

  private static void put(Map<String, View> views, String name, Supplier<String> sql, String... needs) {
    views.put(name.toLowerCase(Locale.ROOT), new View(name, sql, List.of(needs)));
  }

  /** Creates the view of that name, if it exists and is not created yet. */
  private void make(String name) throws SQLException {
    View view = pending.get(name.toLowerCase(Locale.ROOT));
    if (view != null) {
      for (String needed : view.needs) {
        make(needed);
      }
      preparation.execute("CREATE VIEW " + Sql.identifier(view.name) + " AS " + view.sql.get());
      pending.remove(name.toLowerCase(Locale.ROOT));
    }
  }

  private void makeAll() throws SQLException {
    for (String name : List.copyOf(pending.keySet())) {
      make(name);
    }
  }

  @Override
  public Set<String> eventTypes() {
    return viewByType.keySet();
  }

  @Override
  public String viewOf(String eventType) {
    return viewByType.get(eventType);
  }

  @Override
  public boolean has(String eventType, String field) throws SQLException {
    return viewOf(eventType) != null && columnsOf(eventType).contains(field);
  }

  @Override
  public String text(String eventType, String field) {
    return Sql.identifier(field) + "::VARCHAR";
  }

  @Override
  public String integer(String eventType, String field) {
    return "TRY_CAST(" + Sql.identifier(field) + " AS BIGINT)";
  }

  @Override
  public String real(String eventType, String field) {
    return "TRY_CAST(" + Sql.identifier(field) + " AS DOUBLE)";
  }

  @Override
  public List<TypeEntry.FieldEntry> fields(String eventType) {
    Map<String, TypeEntry.FieldEntry> fields = new LinkedHashMap<>();
    for (TypeEntry version : versions.getOrDefault(eventType, List.of())) {
      List<String> columns = ColumnNames.of(version);
      for (int i = 0; i < version.fields().size(); i++) {
        TypeEntry.FieldEntry field = version.fields().get(i);
        fields.putIfAbsent(columns.get(i), new TypeEntry.FieldEntry(columns.get(i), field.type(), field.unit()));
      }
    }
    return List.copyOf(fields.values());
  }

  @Override
  public String timeNs() {
    return "epoch_ns(ts)";
  }

  @Override
  public String within(long fromNs, long toNs) {
    return new TimeSpan(fromNs, toNs).condition();
  }

  @Override
  public TimeSpan newest(long events) {
    List<Manifest.FileEntry> latestFirst = manifests.stream().flatMap(manifest -> manifest.files().stream())
        .filter(file -> file.kind() != Manifest.Kind.BATCHES)
        .sorted(Comparator.comparingLong(ArchiveDatabase::firstNs).reversed()).toList();
    long rows = 0;
    for (Manifest.FileEntry file : latestFirst) {
      rows += file.rows();
      if (rows >= events) {
        return new TimeSpan(firstNs(file), TimeSpan.ALL.toNs());
      }
    }
    return TimeSpan.ALL;
  }

  private static long firstNs(Manifest.FileEntry file) {
    return (file.times() == null ? TimeSpan.ALL : file.times()).fromNs();
  }

  /** Only the files that may have such events are opened. */
  @Override
  public String events(TimeSpan span) {
    return "(" + new EventViews(manifests, paths, span).all() + ")";
  }

  @Override
  public String eventsOf(String eventType, TimeSpan span) {
    return "(" + new EventViews(manifests, paths, span).ofType(eventType) + ")";
  }

  private List<String> columnsOf(String eventType) throws SQLException {
    List<String> columns = new ArrayList<>();
    String sql = "SELECT * FROM " + Sql.identifier(viewOf(eventType)) + " LIMIT 0";
    try (PreparedStatement query = prepare(sql); ResultSet rows = query.executeQuery()) {
      for (int i = 1; i <= rows.getMetaData().getColumnCount(); i++) {
        columns.add(rows.getMetaData().getColumnName(i));
      }
    }
    return columns;
  }

  /** Prepares a query: a single, read-only statement. */
  @Override
  public PreparedStatement prepare(String sql) throws SQLException {
    Sql.requireWhole(sql);
    preparation.begin();
    endQuestion();
    JsonNode parsed = parse(sql);
    if (parsed.path("error").asBoolean()) {
      throw new SQLException(parsed.path("error_type").asText().equals("not implemented")
          ? "the archive is only read: a SELECT, SHOW, DESCRIBE or SUMMARIZE is expected"
          : parsed.path("error_message").asText());
    }
    if (parsed.path("statements").size() != 1) {
      throw new SQLException("one query is expected, not " + parsed.path("statements").size());
    }
    if (parsed.findValuesAsText("show_type").contains("SHOW_SPECIAL") || readsCatalogue(parsed)) {
      makeAll();
    }
    for (String table : parsed.findValuesAsText("table_name")) {
      make(table);
      ledger.provide(table);
    }
    if (namesTablesInText(parsed)) {
      makeAll();
      ledger.provide("ledger");
    }
    try {
      return prepareReading(sql);
    } catch (SQLException e) {
      if (!e.getMessage().startsWith("Catalog Error")) {
        throw e;
      }
      endQuestion();
      makeAll(); // so that the message names the type that is meant
      return prepareReading(sql);
    }
  }

  private PreparedStatement prepareReading(String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("BEGIN TRANSACTION READ ONLY"); // a query may have UPDATE as a part
      isReading = true;
    }
    return connection.prepareStatement(sql);
  }

  @Override
  public void endQuestion() throws SQLException {
    if (isReading) {
      isReading = false;
      try (Statement statement = connection.createStatement()) {
        statement.execute("ROLLBACK");
      }
    }
  }

  @Override
  public void cancelPreparation() {
    preparation.cancel();
  }

  /** Parses with DuckDB's own parser, which serialises a statement only if it is a query. */
  private JsonNode parse(String sql) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement("SELECT json_serialize_sql(?)")) {
      statement.setString(1, sql);
      try (ResultSet result = statement.executeQuery()) {
        result.next();
        return MAPPER.readTree(result.getString(1));
      }
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("DuckDB returned invalid JSON", e);
    }
  }

  private static boolean readsCatalogue(JsonNode parsed) {
    return parsed.findValuesAsText("schema_name").contains("information_schema")
        || parsed.findValuesAsText("function_name").stream().anyMatch(name -> name.startsWith("duckdb_"));
  }

  /** The tables are arguments, or in SQL that is one. */
  private static boolean namesTablesInText(JsonNode parsed) {
    return parsed.findValuesAsText("function_name").stream().anyMatch(Set.of("query", "query_table")::contains);
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }
}
