package io.lifeline.jobs.archive.parquet;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DuckTablesTest {
  @TempDir Path directory;

  @Test
  void longTextsAreWrittenWithLessMemoryThanTheyTake() throws Exception {
    long rows = 24_000;
    try (DuckTables duck = new DuckTables(1, 512L << 20)) {
      String texts = "SELECT repeat(md5(range::VARCHAR), 1000) AS text FROM range(" + rows + ")";
      assertThat(duck.copy(texts, directory.resolve("768-megabytes.parquet"))).isEqualTo(rows);
    }
  }
}
