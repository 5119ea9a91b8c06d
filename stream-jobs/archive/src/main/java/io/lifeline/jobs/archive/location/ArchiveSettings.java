package io.lifeline.jobs.archive.location;

import io.lifeline.jobs.archive.Archive;
import io.lifeline.jobs.archive.RollOptions;
import io.lifeline.jobs.archive.parquet.ParquetArchive;
import io.lifeline.jobs.archive.parquet.ParquetOptions;
import io.lifeline.jobs.archive.postgres.PostgresArchive;
import io.lifeline.jobs.archive.postgres.PostgresOptions;
import io.lifeline.jobs.archive.postgres.PostgresUrl;
import io.lifeline.jobs.core.config.ConfigException;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.config.Keys;
import java.util.Optional;

/** Creates the archive from the configuration. */
public final class ArchiveSettings {
  private ArchiveSettings() {}

  /** Returns the archive that the archive job writes to; if none is configured, the error names the missing setting. */
  public static Archive archive(JobConfig config) {
    return find(config).orElseThrow(() -> new ConfigException(
        "the job archive needs archive.dir (a directory of Parquet files) or archive.url (a PostgreSQL database)"));
  }

  /** Returns the archive, if one is configured. */
  public static Optional<Archive> find(JobConfig config) {
    boolean parquet = config.find(Keys.ARCHIVE_DIR).isPresent();
    boolean postgres = config.find(Keys.ARCHIVE_URL).isPresent();
    if (parquet && postgres) {
      throw new ConfigException("archive.dir and archive.url are both set: remove one of them");
    }
    if (parquet) {
      return Optional.of(new ParquetArchive(parquet(config)));
    }
    return postgres ? Optional.of(new PostgresArchive(postgres(config))) : Optional.empty();
  }

  private static ParquetOptions parquet(JobConfig config) {
    try {
      ParquetOptions options = ParquetOptions.in(config.get(Keys.ARCHIVE_DIR));
      return options.withRoll(roll(config, options.roll()))
          .withCompacting(config.get(Keys.ARCHIVE_COMPACT))
          .withRetention(config.find(Keys.ARCHIVE_RETENTION).orElse(null));
    } catch (IllegalArgumentException e) {
      throw new ConfigException(e.getMessage());
    }
  }

  private static PostgresOptions postgres(JobConfig config) {
    try {
      PostgresOptions options = PostgresOptions.at(PostgresUrl.parse(config.get(Keys.ARCHIVE_URL)));
      return options.withPasswordFile(config.find(Keys.ARCHIVE_PASSWORD_FILE).orElse(null))
          .withTlsCa(config.find(Keys.ARCHIVE_TLS_CA).orElse(null))
          .withSchema(config.get(Keys.ARCHIVE_SCHEMA))
          .withPartition(config.get(Keys.ARCHIVE_PARTITION))
          .withRetention(config.find(Keys.ARCHIVE_RETENTION).orElse(null))
          .withRoll(roll(config, options.roll()));
    } catch (IllegalArgumentException e) {
      throw new ConfigException(e.getMessage());
    }
  }

  private static RollOptions roll(JobConfig config, RollOptions defaults) {
    return defaults
        .withBytes(config.find(Keys.ARCHIVE_ROLL_BYTES).orElse(defaults.bytes()))
        .within(Runtime.getRuntime().maxMemory())
        .withInterval(config.find(Keys.ARCHIVE_ROLL_INTERVAL).orElse(defaults.interval()))
        .rememberingAtLeast(config.get(Keys.RETENTION));
  }
}
