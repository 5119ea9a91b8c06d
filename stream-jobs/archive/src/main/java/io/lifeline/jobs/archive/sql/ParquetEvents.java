package io.lifeline.jobs.archive.sql;

import io.lifeline.jobs.archive.ArchivedEvent;
import io.lifeline.jobs.archive.ColumnNames;
import io.lifeline.jobs.archive.DuckDb;
import io.lifeline.jobs.archive.EventCursor;
import io.lifeline.jobs.archive.EventReader;
import io.lifeline.jobs.archive.EventRows;
import io.lifeline.jobs.archive.EventSelection;
import io.lifeline.jobs.archive.FieldsReader;
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
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Reads the events of a Parquet archive in order of time, as of the manifests at the time of opening. DuckDB sorts
 * one slice of time after the other.
 */
public final class ParquetEvents implements EventReader {
  /**
   * Each thread needs memory for a row group of the largest events. With several, it would depend on their timing
   * whether a slice fits; and one thread writes what they read.
   */
  private static final int THREADS = 1;

  /** A sort has its rows twice for a while, and the scan needs memory as well. */
  private static final int SLICES_IN_MEMORY = 8;

  private final ArchiveDirectory directory;
  private final List<Manifest> manifests;
  private final Map<String, String> paths;
  private final Path spill;
  private final long memoryBytes;
  private final Connection connection;
  private EventSelection session; // the newest selection with one

  private ParquetEvents(ArchiveDirectory directory, List<Manifest> manifests, Map<String, String> paths, Path spill,
      long memoryBytes) throws SQLException {
    this.directory = directory;
    this.manifests = manifests;
    this.paths = paths;
    this.spill = spill;
    this.memoryBytes = memoryBytes;
    this.connection = connect(true);
  }

  /**
   * Opens an existing archive.
   *
   * @param spill existing directory for what exceeds the memory
   * @param memoryBytes limit of DuckDB's memory
   */
  public static ParquetEvents open(Path root, Path spill, long memoryBytes) throws IOException, SQLException {
    ArchiveDirectory directory = new ArchiveDirectory(root);
    List<Manifest> manifests = List.copyOf(Manifests.readExisting(directory).values());
    return new ParquetEvents(directory, manifests, directory.locate(manifests), spill, memoryBytes);
  }

  private EventViews views(TimeSpan span) {
    return new EventViews(manifests, paths, span);
  }

  private Connection connect(boolean streaming) throws SQLException {
    Connection database = DuckDb.openSpilling(spill, memoryBytes, streaming);
    try (Statement statement = database.createStatement()) {
      statement.execute("SET threads = " + THREADS);
      ArchiveDatabase.confine(statement, directory);
      if (session != null) {
        findSession(statement);
      }
      return database;
    } catch (SQLException e) {
      database.close();
      throw e;
    }
  }

  /** Finds the session's events once, and not for each slice. */
  private void findSession(Statement statement) throws SQLException {
    EventViews views = views(TimeSpan.ALL);
    List<String> batchFiles = ArchiveDatabase.batchFiles(manifests, paths);
    if (batchFiles.isEmpty()) {
      throw new SQLException("the archive has no batches, and so no sessions");
    }
    statement.execute("CREATE OR REPLACE VIEW events AS " + views.all());
    statement.execute("CREATE OR REPLACE VIEW batches AS " + BatchRows.read(batchFiles));
    for (Map.Entry<String, String> view : ArchiveDatabase.sessionViews(views).entrySet()) {
      statement.execute("CREATE OR REPLACE VIEW " + view.getKey() + " AS " + view.getValue());
    }
    statement.execute("CREATE OR REPLACE TABLE of_session AS " + session.ofSession());
  }

  @Override
  public Set<String> eventTypes() throws SQLException {
    return views(TimeSpan.ALL).types().stream().map(TypeEntry::name).collect(Collectors.toSet());
  }

  @Override
  public EventCursor read(EventSelection selection) throws SQLException {
    Sql.requireWhole(selection.where());
    if (selection.session() != null) {
      session = selection;
      try (Statement statement = connection.createStatement()) {
        findSession(statement);
      }
    }
    Map<String, FieldsReader> readers = new HashMap<>();
    Set<String> types = new HashSet<>();
    for (TypeEntry type : views(TimeSpan.ALL).types()) {
      if (selection.selectsType(type.name())) {
        types.add(type.name());
        readers.put(type.id(), new FieldsReader(type, ColumnNames.of(type)));
      }
    }
    TimeSpan selected = TimeSpan.of(selection.sinceNs(), selection.untilNs());
    Function<TimeSpan, String> source = span -> {
      TimeSpan both = span.intersection(selected);
      return " FROM (" + views(both).versions(readers.keySet()) + ") AS events"
          + selection.clause(List.of(both.condition()),
              selection.session() == null ? null : "SELECT * FROM of_session");
    };
    List<TimeSpan> slices;
    try (Connection database = connect(false)) {
      slices = TimeSlices.of(database, source, memoryBytes / SLICES_IN_MEMORY);
    } catch (SQLException e) {
      throw explained(e);
    }
    return new Slices(slices.iterator(), types, slice -> rows(
        "SELECT " + EventRows.columns("epoch_ns(ts)", "type_id") + source.apply(slice) + " ORDER BY ts, "
            + EventRows.ORDER, types, readers));
  }

  private EventRows rows(String sql, Set<String> types, Map<String, FieldsReader> readers) throws SQLException {
    PreparedStatement query = connection.prepareStatement(sql);
    try {
      return new EventRows(query, types, (type, level, fields) -> decode(readers.get(type), fields));
    } catch (SQLException e) { // does not say why: it is run again in a database that does
      try (Connection database = connect(false); Statement statement = database.createStatement()) {
        statement.execute("CREATE TABLE sorted AS " + sql);
      } catch (SQLException why) {
        throw explained(why);
      }
      throw e;
    }
  }

  private static EventRows.Decoded decode(FieldsReader reader, String fields) throws SQLException {
    Object[] values = reader.read(fields);
    if (values == null) {
      throw new SQLException("an event of the type " + reader.type().name() + " has fields of another type: run"
          + " lifeline-jobs verify");
    }
    return new EventRows.Decoded(reader.type(), values);
  }

  private SQLException explained(SQLException e) {
    return e.getMessage().startsWith("Out of Memory")
        ? new SQLException("DuckDB cannot sort the events in " + (memoryBytes >> 20) + " MiB: raise --memory-mib, or"
            + " select fewer types: " + e.getMessage().lines().findFirst().orElse(""), e)
        : e;
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }

  private interface SliceReader {
    EventRows read(TimeSpan slice) throws SQLException;
  }

  /** The events of one slice after the other. */
  private static final class Slices implements EventCursor {
    private final Iterator<TimeSpan> left;
    private final Set<String> types;
    private final SliceReader reader;
    private EventRows rows;

    Slices(Iterator<TimeSpan> slices, Set<String> types, SliceReader reader) {
      this.left = slices;
      this.types = types;
      this.reader = reader;
    }

    @Override
    public Set<String> types() {
      return types;
    }

    @Override
    public ArchivedEvent next() throws SQLException {
      ArchivedEvent event = rows == null ? null : rows.next();
      while (event == null && left.hasNext()) {
        close();
        rows = reader.read(left.next());
        event = rows.next();
      }
      return event;
    }

    @Override
    public void close() throws SQLException {
      if (rows != null) {
        rows.close();
        rows = null;
      }
    }
  }
}
