package io.lifeline.jobs.archive.parquet;

import io.lifeline.jobs.archive.ArchiveException;
import io.lifeline.jobs.archive.DuckDb;
import io.lifeline.jobs.archive.Sql;
import io.lifeline.jobs.archive.TimeSpan;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.duckdb.DuckDBColumnType;
import org.duckdb.DuckDBConnection;
import org.duckdb.DuckDBDataChunkWriter;
import org.duckdb.DuckDBFunctions;
import org.duckdb.DuckDBTableFunction;
import org.duckdb.DuckDBTableFunctionBindInfo;
import org.duckdb.DuckDBTableFunctionCallInfo;
import org.duckdb.DuckDBTableFunctionInitInfo;

/**
 * An in-memory DuckDB that reads {@link RowSource}s as tables and writes Parquet. A COPY reads the columns through a
 * table function directly into Parquet, without an intermediate table: several times faster than the appender.
 */
final class DuckTables implements AutoCloseable {
  private static final String FUNCTION = "lifeline_rows";

  /** DuckDB's default row group size. */
  private static final int ROW_GROUP = 122_880;

  /** Dictionary size limit. Larger dictionaries rarely pay off; values of measurements hardly ever repeat. */
  private static final int MAX_DICTIONARY = 4_096;

  private final int threads;
  private int threadsInUse;
  private final DuckDBConnection connection;
  private final Map<Long, RowSource> sources = new ConcurrentHashMap<>();
  private final AtomicLong nextId = new AtomicLong();
  private volatile Statement copying;

  DuckTables(int threads, long memoryBytes) throws ArchiveException {
    this.threads = threads;
    this.threadsInUse = threads;
    try {
      connection = DuckDb.open();
      execute("SET threads = " + threads);
      execute("SET memory_limit = '" + (memoryBytes >> 20) + " MiB'");
      execute("SET temp_directory = ''");
      execute("SET preserve_insertion_order = false");
      // Queries are written in their optimal form; planning a join takes as long as writing thousands of rows.
      execute("PRAGMA disable_optimizer");
      DuckDBFunctions.tableFunction()
          .withName(FUNCTION)
          .withParameter(DuckDBColumnType.BIGINT)
          .withFunction(new Reader(threads))
          .register(connection);
    } catch (SQLException e) {
      throw new ArchiveException("DuckDB does not start: " + e.getMessage(), e);
    }
  }

  /** A row source that SQL can refer to until it is closed. */
  final class Table implements AutoCloseable {
    private final long id = nextId.getAndIncrement();

    private Table(RowSource source) {
      sources.put(id, source);
    }

    /** Returns the SQL table expression of the rows. */
    String sql() {
      return FUNCTION + "(" + id + ")";
    }

    @Override
    public void close() {
      sources.remove(id);
    }
  }

  Table table(RowSource source) {
    return new Table(source);
  }

  /**
   * Writes the rows of a query to a file and returns their number. Row groups are limited by size too, because as many
   * rows of long texts as of numbers would not fit into memory.
   */
  long copy(String query, Path file) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      copying = statement;
      return statement.executeLargeUpdate("COPY (" + query + ") TO " + Sql.literal(file.toString())
          + " (FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v2, ROW_GROUP_SIZE_BYTES '64MB',"
          + " DICTIONARY_SIZE_LIMIT " + MAX_DICTIONARY + ")");
    } finally {
      copying = null;
    }
  }

  /** Ends a copy that is running, which then fails. For other threads. */
  void cancelCopy() {
    Statement running = copying;
    try {
      if (running != null) {
        running.cancel();
      }
    } catch (SQLException e) {
      // It has ended meanwhile.
    }
  }

  /** Returns the times of a file's events, from the statistics of its row groups; null if one has none. */
  TimeSpan times(Path file) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT epoch_ns(min(least)), epoch_ns(max(greatest)) FROM ("
            + "SELECT TRY_CAST(stats_min_value AS TIMESTAMP_NS) AS least, TRY_CAST(stats_max_value AS TIMESTAMP_NS) AS"
            + " greatest FROM parquet_metadata(" + Sql.literal(file.toString()) + ") WHERE path_in_schema = 'ts')"
            + " HAVING bool_and(least IS NOT NULL AND greatest IS NOT NULL)")) {
      return row.next() ? new TimeSpan(row.getLong(1), row.getLong(2)) : null;
    }
  }

  /**
   * Sets the expected number of rows of the largest of the next files. For less than a row group a second thread has no
   * work, and only costs scheduling.
   */
  void expect(int rows) throws SQLException {
    int useful = Math.min(threads, 1 + rows / ROW_GROUP);
    if (useful != threadsInUse) {
      execute("SET threads = " + useful);
      threadsInUse = useful;
    }
  }

  /** Returns the single number that a query yields. */
  long number(String query) throws SQLException {
    try (Statement statement = connection.createStatement(); ResultSet row = statement.executeQuery(query)) {
      row.next();
      return row.getLong(1);
    }
  }

  /** Receives a row of a result. */
  interface RowVisitor {
    void visit(ResultSet row) throws SQLException;
  }

  /** Visits the rows of a query over the archive, where the optimizer skips what the files' statistics exclude. */
  void forEach(String query, RowVisitor visitor) throws SQLException {
    execute("PRAGMA enable_optimizer");
    try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(query)) {
      while (rows.next()) {
        visitor.visit(rows);
      }
    } finally {
      execute("PRAGMA disable_optimizer");
    }
  }

  void execute(String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  @Override
  public void close() {
    try {
      connection.close();
    } catch (SQLException e) {
      throw new IllegalStateException("an in-memory DuckDB does not close", e);
    }
  }

  /** The table function: returns the rows of a source chunk by chunk, to several threads. */
  private final class Reader implements DuckDBTableFunction<RowSource, AtomicInteger, Object> {
    private final int threads;

    Reader(int threads) {
      this.threads = threads;
    }

    @Override
    public RowSource bind(DuckDBTableFunctionBindInfo info) {
      RowSource source = sources.get(info.getParameter(0).getLong());
      for (RowSource.VectorColumn column : source.columns()) {
        info.addResultColumn(column.name(), column.type());
      }
      info.setCardinality(source.rows(), true);
      return source;
    }

    @Override
    public AtomicInteger init(DuckDBTableFunctionInitInfo info) {
      // A second thread for less than a row group costs more than it saves.
      RowSource source = info.getBindData();
      info.setMaxThreads(Math.min(threads, 1 + source.rows() / ROW_GROUP));
      return new AtomicInteger();
    }

    @Override
    public long apply(DuckDBTableFunctionCallInfo info, DuckDBDataChunkWriter chunk) {
      RowSource source = info.getBindData();
      AtomicInteger next = info.getInitData();
      int capacity = (int) chunk.capacity();
      int from = next.getAndAdd(capacity);
      int count = Math.min(capacity, source.rows() - from);
      if (count <= 0) {
        return 0;
      }
      source.fill(chunk, from, count);
      return count;
    }
  }
}
