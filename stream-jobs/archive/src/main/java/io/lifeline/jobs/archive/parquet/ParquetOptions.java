package io.lifeline.jobs.archive.parquet;

import io.lifeline.jobs.archive.RollOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;

/**
 * Options of a Parquet archive.
 *
 * @param directory directory of the archive; created if it does not exist
 * @param roll when files are closed
 * @param rareRows an event type with fewer rows than this in a roll shares a file with the other rare ones
 * @param threads number of threads that DuckDB may use to encode Parquet
 * @param compacting whether writers merge small files in the background
 * @param retention age at which writers drop files; null to keep them
 */
public record ParquetOptions(Path directory, RollOptions roll, int rareRows, int threads, boolean compacting,
    Duration retention) {
  public static final RollOptions DEFAULT_ROLL =
      new RollOptions(128L << 20, RollOptions.DEFAULT_INTERVAL, RollOptions.DEFAULT_REMEMBERED);
  public static final int DEFAULT_RARE_ROWS = 10_000;

  private static final Duration LEAST_RETENTION = Duration.ofHours(1);

  public ParquetOptions {
    Objects.requireNonNull(directory, "directory");
    Objects.requireNonNull(roll, "roll");
    if (rareRows < 0) {
      throw new IllegalArgumentException("the number of rows below which a type is rare is negative: " + rareRows);
    }
    if (threads < 1) {
      throw new IllegalArgumentException("the archive needs at least one thread, not " + threads);
    }
    if (retention != null && retention.compareTo(LEAST_RETENTION) < 0) {
      throw new IllegalArgumentException("archive.retention must be at least 1h, not " + retention);
    }
  }

  /** Returns the defaults: 128 MiB or 60 seconds, on all processors, without any maintenance. */
  public static ParquetOptions in(Path directory) {
    return new ParquetOptions(
        directory, DEFAULT_ROLL, DEFAULT_RARE_ROWS, Runtime.getRuntime().availableProcessors(), false, null);
  }

  public ParquetOptions withRoll(RollOptions when) {
    return new ParquetOptions(directory, when, rareRows, threads, compacting, retention);
  }

  public ParquetOptions withRareRows(int rows) {
    return new ParquetOptions(directory, roll, rows, threads, compacting, retention);
  }

  public ParquetOptions withThreads(int count) {
    return new ParquetOptions(directory, roll, rareRows, count, compacting, retention);
  }

  public ParquetOptions withCompacting(boolean compacts) {
    return new ParquetOptions(directory, roll, rareRows, threads, compacts, retention);
  }

  public ParquetOptions withRetention(Duration age) {
    return new ParquetOptions(directory, roll, rareRows, threads, compacting, age);
  }
}
