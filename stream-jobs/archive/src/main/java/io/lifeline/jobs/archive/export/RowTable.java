package io.lifeline.jobs.archive.export;

import io.lifeline.jobs.archive.DuckDb;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.Map;
import org.duckdb.DuckDBColumnType;
import org.duckdb.DuckDBConnection;
import org.duckdb.DuckDBDataChunkWriter;
import org.duckdb.DuckDBFunctions;
import org.duckdb.DuckDBTableFunction;
import org.duckdb.DuckDBTableFunctionBindInfo;
import org.duckdb.DuckDBTableFunctionCallInfo;
import org.duckdb.DuckDBTableFunctionInitInfo;

/** A DuckDB that reads a table once, row by row, as {@link #SQL}. Neither the table nor a result is held in memory. */
final class RowTable implements AutoCloseable {
  /** The table in queries. */
  static final String SQL = "lifeline_export()";

  /** Rows are handed over in chunks of 2,048, or of about this size: strings may have 32 KiB. */
  private static final int CHUNK_BYTES = 4 << 20;

  /** The source of the rows. */
  interface Rows {
    /** Writes the next row, and returns about how many bytes it has; -1 if there is none. */
    int next(DuckDBDataChunkWriter chunk, int row) throws IOException, SQLException;
  }

  /** Receives a row of a result. */
  interface RowVisitor {
    void visit(ResultSet row) throws IOException, SQLException;
  }

  private final DuckDBConnection connection;
  private Exception failure;

  /**
   * @param columns names and types
   * @param streaming whether a query has a large result
   */
  RowTable(Map<String, DuckDBColumnType> columns, Rows rows, ExportOptions options, boolean streaming)
      throws IOException, SQLException {
    // Not the directory of the archive's database, which names its files in the same way.
    Path spill = Files.createTempDirectory(options.spill(), "rows");
    connection = DuckDb.openSpilling(spill, options.memoryBytes(), streaming);
    try {
      execute("SET threads = 1"); // keeps the order, and one thread calls the source
      execute("SET preserve_insertion_order = false");
      DuckDBFunctions.tableFunction().withName(SQL.substring(0, SQL.indexOf('(')))
          .withFunction(new Reader(new LinkedHashMap<>(columns), rows)).register(connection);
    } catch (SQLException e) {
      connection.close();
      throw e;
    }
  }

  private void execute(String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /** Runs a statement that writes a file. */
  void copy(String sql) throws IOException, SQLException {
    try {
      execute(sql);
    } catch (SQLException e) {
      throw explained(e);
    }
  }

  void query(String sql, RowVisitor visitor) throws IOException, SQLException {
    try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(sql)) {
      while (rows.next()) {
        visitor.visit(rows);
      }
    } catch (SQLException e) {
      throw explained(e);
    }
  }

  /** Returns the failure of the source, if it was that, as it was before it went through DuckDB. */
  private SQLException explained(SQLException e) throws IOException {
    if (failure instanceof IOException cause) {
      throw cause;
    }
    return failure instanceof SQLException cause ? cause
        : new SQLException("DuckDB failed, most likely for lack of memory (raise --memory-mib) or of space on the disk"
            + " (set --temp-dir): " + e.getMessage(), e);
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }

  private final class Reader implements DuckDBTableFunction<Object, Object, Object> {
    private final Map<String, DuckDBColumnType> columns;
    private final Rows rows;
    private boolean ended;

    Reader(Map<String, DuckDBColumnType> columns, Rows rows) {
      this.columns = columns;
      this.rows = rows;
    }

    @Override
    public Object bind(DuckDBTableFunctionBindInfo info) {
      columns.forEach(info::addResultColumn);
      return this;
    }

    @Override
    public Object init(DuckDBTableFunctionInitInfo info) {
      info.setMaxThreads(1);
      return this;
    }

    @Override
    public long apply(DuckDBTableFunctionCallInfo info, DuckDBDataChunkWriter chunk) throws Exception {
      try {
        int count = 0;
        for (int bytes = 0; !ended && count < chunk.capacity() && bytes < CHUNK_BYTES; ) {
          int size = rows.next(chunk, count);
          ended = size < 0;
          count += ended ? 0 : 1;
          bytes += size;
        }
        return count;
      } catch (IOException | SQLException | RuntimeException e) {
        failure = e;
        throw e;
      }
    }
  }
}
