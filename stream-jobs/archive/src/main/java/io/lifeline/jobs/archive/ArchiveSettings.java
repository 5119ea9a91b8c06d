package io.lifeline.jobs.archive;

import io.lifeline.jobs.archive.parquet.ParquetArchive;
import io.lifeline.jobs.archive.parquet.ParquetOptions;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.config.Keys;
import java.nio.file.Path;
import java.util.Optional;

/** Finds out of the configuration which archive there is. */
public final class ArchiveSettings {
  private ArchiveSettings() {}

  /** The archive that the job archive writes to; says what is missing if there is none. */
  public static Archive archive(JobConfig config) {
    return parquet(config, config.get(Keys.ARCHIVE_DIR));
  }

  /** The archive, if one is configured. */
  public static Optional<Archive> find(JobConfig config) {
    return config.find(Keys.ARCHIVE_DIR).map(directory -> parquet(config, directory));
  }

  private static Archive parquet(JobConfig config, Path directory) {
    RollOptions roll = ParquetOptions.DEFAULT_ROLL
        .withBytes(config.get(Keys.ARCHIVE_ROLL_BYTES))
        .withInterval(config.get(Keys.ARCHIVE_ROLL_INTERVAL))
        .rememberingAtLeast(config.get(Keys.RETENTION));
    return new ParquetArchive(ParquetOptions.in(directory).withRoll(roll));
  }
}
