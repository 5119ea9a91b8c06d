package io.lifeline.jobs.archive;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;

/**
 * How an archive is written.
 *
 * @param directory of the archive; made if it is not there
 * @param rollBytes columns held in memory before they are written, over all partitions: the bound on the writer's heap
 * @param rollInterval age at which columns are written however few they are
 * @param rareRows an event type with fewer rows than this in a roll shares a file with the other rare ones
 * @param threads that DuckDB may use to encode Parquet
 * @param remembered how long the batches of an emitter that has gone silent are still known as repeats. Longer than the
 *     broker keeps them: a recovery may send again what was archived long ago
 */
public record ArchiveOptions(
    Path directory, long rollBytes, Duration rollInterval, int rareRows, int threads, Duration remembered) {
  public static final long DEFAULT_ROLL_BYTES = 128L << 20;
  public static final Duration DEFAULT_ROLL_INTERVAL = Duration.ofSeconds(60);
  public static final int DEFAULT_RARE_ROWS = 10_000;
  public static final Duration DEFAULT_REMEMBERED = Duration.ofDays(30);

  public ArchiveOptions {
    Objects.requireNonNull(directory, "directory");
    Objects.requireNonNull(rollInterval, "rollInterval");
    Objects.requireNonNull(remembered, "remembered");
    if (rollBytes < 1) {
      throw new IllegalArgumentException("archive.roll.bytes must be at least 1, not " + rollBytes);
    }
    if (rollInterval.isNegative() || rollInterval.isZero()) {
      throw new IllegalArgumentException("archive.roll.interval must be above zero, not " + rollInterval);
    }
    if (rareRows < 0) {
      throw new IllegalArgumentException("the number of rows below which a type is rare is negative: " + rareRows);
    }
    if (threads < 1) {
      throw new IllegalArgumentException("the archive needs at least one thread, not " + threads);
    }
  }

  /** The defaults: 128 MiB or 60 seconds, on all processors. */
  public static ArchiveOptions in(Path directory) {
    return new ArchiveOptions(directory, DEFAULT_ROLL_BYTES, DEFAULT_ROLL_INTERVAL, DEFAULT_RARE_ROWS,
        Runtime.getRuntime().availableProcessors(), DEFAULT_REMEMBERED);
  }

  public ArchiveOptions withRollBytes(long bytes) {
    return new ArchiveOptions(directory, bytes, rollInterval, rareRows, threads, remembered);
  }

  public ArchiveOptions withRollInterval(Duration interval) {
    return new ArchiveOptions(directory, rollBytes, interval, rareRows, threads, remembered);
  }

  public ArchiveOptions withRareRows(int rows) {
    return new ArchiveOptions(directory, rollBytes, rollInterval, rows, threads, remembered);
  }

  public ArchiveOptions withThreads(int count) {
    return new ArchiveOptions(directory, rollBytes, rollInterval, rareRows, count, remembered);
  }

  /** For a broker that keeps batches that long, and delivers them again as late. */
  public ArchiveOptions rememberingAtLeast(Duration duration) {
    return remembered.compareTo(duration) >= 0 ? this : withRemembered(duration);
  }

  public ArchiveOptions withRemembered(Duration duration) {
    return new ArchiveOptions(directory, rollBytes, rollInterval, rareRows, threads, duration);
  }
}
