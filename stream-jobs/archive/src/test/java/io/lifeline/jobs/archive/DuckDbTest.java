package io.lifeline.jobs.archive;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.stream.Stream;
import org.duckdb.DuckDBConnection;
import org.junit.jupiter.api.Test;

class DuckDbTest {

  @Test
  void leavesNoLibraryBehindAndGoesOnWorking() throws SQLException, IOException {
    try (DuckDBConnection connection = DuckDb.open();
        Statement statement = connection.createStatement();
        ResultSet result = statement.executeQuery("SELECT 6 * 7")) {
      assertThat(result.next()).isTrue();
      assertThat(result.getInt(1)).isEqualTo(42);
      assertThat(mappedLibraries()).isNotEmpty().noneMatch(library -> Files.exists(Path.of(library)));
    }
    DuckDb.open().close();
  }

  private static List<String> mappedLibraries() throws IOException {
    try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
      return lines
          .filter(line -> line.contains("/libduckdb_java"))
          .map(line -> line.substring(line.indexOf('/')).replace(" (deleted)", ""))
          .distinct()
          .toList();
    }
  }
}
