package io.lifeline.jobs.archive;

import io.lifeline.jobs.core.NativeLibraries;
import java.nio.file.Path;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Objects;
import java.util.Properties;
import org.duckdb.DuckDBConnection;
import org.duckdb.DuckDBDriver;

/** Opens in-memory DuckDB databases, and leaves no files on the disk. */
public final class DuckDb {
  private static boolean cleaned;

  private DuckDb() {}

  /** Opens a separate, empty database. */
  public static DuckDBConnection open() throws SQLException {
    return open(new Properties());
  }

  /**
   * Opens a separate, empty database that keeps what exceeds its memory in files.
   *
   * @param spill existing directory for these files
   * @param streaming whether results are read while they are computed, so that they may be larger than the memory. Then
   *     a statement executes one query, and one that fails while it runs says only "Invalid result set"
   */
  public static DuckDBConnection openSpilling(Path spill, long memoryBytes, boolean streaming) throws SQLException {
    Properties properties = new Properties();
    properties.setProperty(DuckDBDriver.JDBC_STREAM_RESULTS, Boolean.toString(streaming));
    DuckDBConnection connection = open(properties);
    try (Statement statement = connection.createStatement()) {
      statement.execute("SET memory_limit = '" + (memoryBytes >> 20) + " MiB'");
      statement.execute("SET temp_directory = " + Sql.literal(spill.toString()));
      return connection;
    } catch (SQLException e) {
      connection.close();
      throw e;
    }
  }

  private static synchronized DuckDBConnection open(Properties properties) throws SQLException {
    DuckDBConnection connection;
    try {
      // Not through DriverManager, which hides why a driver cannot be loaded.
      connection = (DuckDBConnection) new DuckDBDriver().connect("jdbc:duckdb:", properties);
    } catch (LinkageError e) {
      throw new SQLException(Objects.requireNonNullElseGet(NativeLibraries.explain(e), e::toString), e);
    }
    if (!cleaned) {
      NativeLibraries.removeUnpacked();
      cleaned = true;
    }
    return connection;
  }
}
