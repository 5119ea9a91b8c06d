package io.lifeline.jobs.archive;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Properties;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.duckdb.DuckDBConnection;
import org.duckdb.DuckDBDriver;

/** Opens in-memory DuckDB databases, and leaves no files on the disk. */
public final class DuckDb {
  private static final Path MAPPINGS = Path.of("/proc/self/maps");
  private static final Pattern UNPACKED = Pattern.compile("(/\\S*/libduckdb_java\\d+\\.so)$");
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
    DuckDBConnection connection = (DuckDBConnection) DriverManager.getConnection("jdbc:duckdb:", properties);
    if (!cleaned) {
      removeUnpackedLibrary();
      cleaned = true;
    }
    return connection;
  }

  /**
   * The driver unpacks its library of 70 MB into the temporary directory and removes it when the process exits
   * normally. Each killed process would leave a copy. Once the library is mapped, its file can be removed.
   */
  private static void removeUnpackedLibrary() {
    try (Stream<String> lines = Files.lines(MAPPINGS)) {
      Set<String> unpacked =
          lines.map(UNPACKED::matcher).filter(Matcher::find).map(found -> found.group(1)).collect(Collectors.toSet());
      for (String library : unpacked) {
        Files.deleteIfExists(Path.of(library));
      }
    } catch (IOException | RuntimeException e) {
      // No /proc, or no permission: the file stays until the process ends, as the driver intends.
    }
  }
}
