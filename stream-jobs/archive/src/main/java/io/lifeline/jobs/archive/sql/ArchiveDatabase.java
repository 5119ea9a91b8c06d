package io.lifeline.jobs.archive.sql;

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
import java.util.Map;
import java.util.Set;

/**
 * An archive as a SQL database that exists in memory and cannot change the archive: one view per event type under its own
 * name, {@code events} over all types, {@code batches}, {@code ledger} and {@code emitters}. It shows the archive as its
 * manifests were when it was opened. Nothing but the archive's own data files can be read through it.
 */
public final class ArchiveDatabase implements AutoCloseable {
  private static final Set<String> OWN_VIEWS = Set.of("events", "batches", "ledger", "emitters", "routes");

  private final Connection connection;

  private ArchiveDatabase(Connection connection) {
    this.connection = connection;
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
    try {
      createViews(connection, directory, manifests);
      try (Statement statement = connection.createStatement()) {
        statement.execute("SET temp_directory = ''");
        statement.execute("SET allowed_directories = " + Sql.literals(List.of(directory.data() + "/")));
        statement.execute("SET enable_external_access = false");
        statement.execute("SET lock_configuration = true");
      }
      return new ArchiveDatabase(connection);
    } catch (IOException | SQLException | RuntimeException e) {
      connection.close();
      throw e;
    }
  }

  private static void createViews(Connection connection, ArchiveDirectory directory, List<Manifest> manifests)
      throws IOException, SQLException {
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
    LedgerTables.create(connection, LedgerTables.routes(manifests));
    EventViews events = new EventViews(manifests, paths);
    Map<String, String> views = new LinkedHashMap<>(events.perType(OWN_VIEWS));
    if (!batchFiles.isEmpty()) {
      views.put("batches", "FROM read_parquet(" + Sql.literals(batchFiles) + ")");
    }
    String all = events.all();
    if (all != null) {
      views.put("events", all);
    }
    try (Statement statement = connection.createStatement()) {
      for (Map.Entry<String, String> view : views.entrySet()) {
        statement.execute("CREATE VIEW " + Sql.identifier(view.getKey()) + " AS " + view.getValue());
      }
    }
  }

  /** For queries that this program wrote itself. */
  public Connection connection() {
    return connection;
  }

  /** Prepares a user's query: one statement, and one that only reads. */
  public PreparedStatement prepareQuery(String sql) throws SQLException {
    try (PreparedStatement check = connection.prepareStatement(
        "SELECT p->>'error_type', p->>'error_message', json_array_length(p->'statements')"
            + " FROM (SELECT json_serialize_sql(?) AS p)")) {
      check.setString(1, sql);
      try (ResultSet result = check.executeQuery()) {
        result.next();
        if ("not implemented".equals(result.getString(1))) {
          throw new SQLException("the archive is only read: a SELECT, SHOW, DESCRIBE or SUMMARIZE is expected");
        }
        if (result.getString(2) != null) {
          throw new SQLException(result.getString(2));
        }
        if (result.getInt(3) != 1) {
          throw new SQLException("one query is expected, not " + result.getInt(3));
        }
      }
    }
    return connection.prepareStatement(sql);
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }
}
