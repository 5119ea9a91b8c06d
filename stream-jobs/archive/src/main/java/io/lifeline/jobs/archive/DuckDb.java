package io.lifeline.jobs.archive;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.duckdb.DuckDBConnection;

/** Opens DuckDB in memory, and leaves nothing of it on the disk. */
public final class DuckDb {
  private static final Path MAPPINGS = Path.of("/proc/self/maps");
  private static final Pattern UNPACKED = Pattern.compile("(/\\S*/libduckdb_java\\d+\\.so)$");
  private static boolean cleaned;

  private DuckDb() {}

  /** An empty database of its own. */
  public static synchronized DuckDBConnection open() throws SQLException {
    DuckDBConnection connection = (DuckDBConnection) DriverManager.getConnection("jdbc:duckdb:");
    if (!cleaned) {
      removeUnpackedLibrary();
      cleaned = true;
    }
    return connection;
  }

  /**
   * The driver unpacks its library of 70 MB into the directory for temporary files and removes it when the process ends
   * in good order: one that is killed would leave it there, again and again. Once it is mapped its name is not needed.
   */
  private static void removeUnpackedLibrary() {
    try (Stream<String> lines = Files.lines(MAPPINGS)) {
      Set<String> unpacked =
          lines.map(UNPACKED::matcher).filter(Matcher::find).map(found -> found.group(1)).collect(Collectors.toSet());
      for (String library : unpacked) {
        Files.deleteIfExists(Path.of(library));
      }
    } catch (IOException | RuntimeException e) {
      // No /proc, or no right to remove it: then it stays until the process ends, as the driver means it to.
    }
  }
}
