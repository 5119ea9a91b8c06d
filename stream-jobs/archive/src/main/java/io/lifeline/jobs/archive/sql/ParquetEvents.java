package io.lifeline.jobs.archive.sql;

import io.lifeline.jobs.archive.ColumnNames;
import io.lifeline.jobs.archive.DuckDb;
import io.lifeline.jobs.archive.EventCursor;
import io.lifeline.jobs.archive.EventReader;
import io.lifeline.jobs.archive.EventRows;
import io.lifeline.jobs.archive.EventSelection;
import io.lifeline.jobs.archive.FieldsReader;
import io.lifeline.jobs.archive.TypeEntry;
import io.lifeline.jobs.archive.parquet.ArchiveDirectory;
import io.lifeline.jobs.archive.parquet.Manifest;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reads the events of a Parquet archive in order of time, as of the manifests at the time of opening. DuckDB sorts
 * them; what exceeds its memory goes to files.
 */
public final class ParquetEvents implements EventReader {
  private final Connection connection;
  private final EventViews views;

  private ParquetEvents(Connection connection, EventViews views) {
    this.connection = connection;
    this.views = views;
  }

  /**
   * Opens an existing archive.
   *
   * @param spill existing directory for what exceeds the memory
   * @param memoryBytes limit of DuckDB's memory
   */
  public static ParquetEvents open(Path root, Path spill, long memoryBytes) throws IOException, SQLException {
    ArchiveDirectory directory = new ArchiveDirectory(root);
    List<Manifest> manifests = ArchiveDatabase.manifests(directory, root);
    EventViews views = new EventViews(manifests, ArchiveDatabase.paths(directory, manifests));
    Connection connection = DuckDb.openStreaming(spill, memoryBytes);
    try (Statement statement = connection.createStatement()) {
      ArchiveDatabase.confine(statement, directory);
      return new ParquetEvents(connection, views);
    } catch (SQLException e) {
      connection.close();
      throw e;
    }
  }

  @Override
  public EventCursor read(EventSelection selection) throws SQLException {
    Map<String, FieldsReader> readers = new HashMap<>();
    Set<String> types = new HashSet<>();
    for (TypeEntry type : views.types()) {
      if (selection.selectsType(type.name())) {
        types.add(type.name());
        readers.put(type.id(), new FieldsReader(type, ColumnNames.of(type)));
      }
    }
    List<String> conditions = new ArrayList<>();
    if (selection.sinceNs() != null) {
      conditions.add("ts >= make_timestamp_ns(" + selection.sinceNs() + ")");
    }
    if (selection.untilNs() != null) {
      conditions.add("ts < make_timestamp_ns(" + selection.untilNs() + ")");
    }
    String sql = "SELECT " + EventRows.columns("epoch_ns(ts)", "type_id") + " FROM (" + views.versions(readers.keySet())
        + ") AS events" + selection.clause(conditions) + " ORDER BY ts, " + EventRows.ORDER;
    return new EventRows(connection.prepareStatement(sql), types, (type, level, fields) -> {
      FieldsReader reader = readers.get(type);
      Object[] values = reader.read(fields);
      if (values == null) {
        throw new SQLException("an event of the type " + reader.type().name() + " has fields of another type: run"
            + " lifeline-jobs verify");
      }
      return new EventRows.Decoded(reader.type(), values);
    });
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }
}
