package io.lifeline.jobs.archive.sql;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lifeline.jobs.archive.ArchiveDirectory;
import io.lifeline.jobs.archive.ArchiveException;
import io.lifeline.jobs.archive.Manifest;
import io.lifeline.jobs.archive.Manifests;
import io.lifeline.jobs.archive.Sql;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * An archive as a SQL database that exists in memory and cannot change the archive: one view per event type under its own
 * name, {@code events} over all types, {@code batches}, {@code ledger} and {@code emitters}. It shows the archive as its
 * manifests were when it was opened. Nothing but the archive's own data files can be read through it.
 */
public final class ArchiveDatabase implements AutoCloseable {
  private static final Set<String> OWN_VIEWS = Set.of("events", "batches", "ledger", "emitters", "routes");

  private static final ObjectMapper MAPPER = new ObjectMapper();

  private final Connection connection;

  /** What is not made yet, by lower-case name: a view opens its files when it is made, and there may be many. */
  private final Map<String, View> pending;

  private record View(String name, String sql) {}

  private ArchiveDatabase(Connection connection, Map<String, View> views) {
    this.connection = connection;
    this.pending = views;
  }

  /** Opens an archive that must be there. */
  public static ArchiveDatabase open(Path root) throws IOException, SQLException {
    ArchiveDirectory directory = new ArchiveDirectory(root);
    if (!Files.isDirectory(root)) {
      throw new ArchiveException("there is no archive at " + root
          + ": give --archive the directory that archive.dir names for the jobs");
    }
    List<Manifest> manifests = Manifests.read(directory);
    if (manifests.isEmpty()) {
      throw new ArchiveException("the archive " + root + " is empty: nothing has been published into it yet");
    }
    Connection connection = DriverManager.getConnection("jdbc:duckdb:");
    try (Statement statement = connection.createStatement()) {
      Map<String, View> views = views(directory, manifests);
      LedgerTables.create(connection, LedgerTables.routes(manifests));
      statement.execute("SET temp_directory = ''");
      statement.execute("SET allowed_directories = " + Sql.literals(List.of(directory.data() + "/")));
      statement.execute("SET enable_external_access = false");
      statement.execute("SET lock_configuration = true");
      return new ArchiveDatabase(connection, views);
    } catch (IOException | SQLException | RuntimeException e) {
      connection.close();
      throw e;
    }
  }

  private static Map<String, View> views(ArchiveDirectory directory, List<Manifest> manifests) throws IOException {
    Map<String, String> paths = new HashMap<>();
    List<String> batchFiles = new ArrayList<>();
    for (Manifest manifest : manifests) {
      for (Manifest.FileEntry file : manifest.files()) {
        String path = directory.locate(file.name()).toString();
        paths.put(file.name(), path);
        if (file.kind() == Manifest.Kind.BATCHES) {
          batchFiles.add(path);
        }
      }
    }
    EventViews events = new EventViews(manifests, paths);
    Map<String, View> views = new LinkedHashMap<>();
    events.perType(OWN_VIEWS).forEach((name, sql) -> put(views, name, sql));
    if (!batchFiles.isEmpty()) {
      put(views, "batches", "FROM read_parquet(" + Sql.literals(batchFiles) + ")");
      put(views, "events", events.all());
    }
    return views;
  }

  private static void put(Map<String, View> views, String name, String sql) {
    views.put(name.toLowerCase(Locale.ROOT), new View(name, sql));
  }

  /** Makes the view of that name, if there is one and it is not made yet. */
  private void make(String name) throws SQLException {
    View view = pending.remove(name.toLowerCase(Locale.ROOT));
    if (view != null) {
      try (Statement statement = connection.createStatement()) {
        statement.execute("CREATE VIEW " + Sql.identifier(view.name) + " AS " + view.sql);
      }
    }
  }

  private void makeAll() throws SQLException {
    for (String name : List.copyOf(pending.keySet())) {
      make(name);
    }
  }

  /** Prepares a query: one statement, and one that only reads. */
  public PreparedStatement prepare(String sql) throws SQLException {
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
    }
    return connection.prepareStatement(sql);
  }

  /** DuckDB's own parser, which takes a statement apart only if it is a query. */
  private JsonNode parse(String sql) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement("SELECT json_serialize_sql(?)")) {
      statement.setString(1, sql);
      try (ResultSet result = statement.executeQuery()) {
        result.next();
        return MAPPER.readTree(result.getString(1));
      }
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("DuckDB writes JSON that is none", e);
    }
  }

  private static boolean readsCatalogue(JsonNode parsed) {
    return parsed.findValuesAsText("schema_name").contains("information_schema")
        || parsed.findValuesAsText("function_name").stream().anyMatch(name -> name.startsWith("duckdb_"));
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }
}
