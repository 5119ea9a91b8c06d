package io.lifeline.connect.archive;

import io.lifeline.jobs.archive.Archive;
import io.lifeline.jobs.archive.RollOptions;
import io.lifeline.jobs.archive.parquet.ParquetArchive;
import io.lifeline.jobs.archive.parquet.ParquetOptions;
import io.lifeline.jobs.archive.postgres.Password;
import io.lifeline.jobs.archive.postgres.PostgresArchive;
import io.lifeline.jobs.archive.postgres.PostgresOptions;
import io.lifeline.jobs.archive.postgres.PostgresUrl;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigException;

/** The parsed settings of the archive sink. */
final class ArchiveSinkConfig extends AbstractConfig {

  ArchiveSinkConfig(Map<String, String> properties) {
    super(ArchiveSinkSettings.DEFINITION, properties);
  }

  /**
   * The configured archive.
   *
   * @throws ConfigException if not exactly one archive is configured, or settings conflict
   */
  Archive archive() {
    ArchivePlace.check(text(ArchiveSinkSettings.DIRECTORY).isPresent(), text(ArchiveSinkSettings.URL).isPresent());
    return directory().map(this::parquet).orElseGet(this::postgres);
  }

  private Archive parquet(Path directory) {
    ParquetOptions options = ParquetOptions.in(directory);
    return new ParquetArchive(options.withRoll(roll(options.roll()))
        .withCompacting(getBoolean(ArchiveSinkSettings.COMPACT))
        .withRetention(duration(ArchiveSinkSettings.RETENTION_MS).orElse(null)));
  }

  private Archive postgres() {
    try {
      PostgresOptions options = PostgresOptions.at(PostgresUrl.parse(getString(ArchiveSinkSettings.URL)));
      return new PostgresArchive(
          options
              .withPassword(password().orElse(null))
              .withTlsCa(text(ArchiveSinkSettings.TLS_CA).map(Path::of).orElse(null))
              .withSchema(getString(ArchiveSinkSettings.SCHEMA))
              .withPartition(Duration.ofMillis(getLong(ArchiveSinkSettings.PARTITION_MS)))
              .withRetention(duration(ArchiveSinkSettings.RETENTION_MS).orElse(null))
              .withRoll(roll(options.roll())));
    } catch (IllegalArgumentException e) {
      throw new ConfigException(e.getMessage());
    }
  }

  private Optional<Password> password() {
    if (getPassword(ArchiveSinkSettings.PASSWORD) != null) {
      return Optional.of(Password.of(getPassword(ArchiveSinkSettings.PASSWORD).value()));
    }
    return text(ArchiveSinkSettings.PASSWORD_FILE).map(file -> Password.inFile(Path.of(file)));
  }

  /** Unset values default to those of the kind of archive. */
  private RollOptions roll(RollOptions defaults) {
    return new RollOptions(
        Optional.ofNullable(getLong(ArchiveSinkSettings.ROLL_BYTES)).orElse(defaults.bytes()),
        duration(ArchiveSinkSettings.ROLL_INTERVAL_MS).orElse(defaults.interval()),
        Duration.ofMillis(getLong(ArchiveSinkSettings.REMEMBERED_MS))).within(Runtime.getRuntime().maxMemory());
  }

  /** Null unless the archive is Parquet. */
  Optional<Path> directory() {
    return text(ArchiveSinkSettings.DIRECTORY).map(Path::of);
  }

  /** Null when the archive decides. */
  Long rollIntervalMs() {
    return getLong(ArchiveSinkSettings.ROLL_INTERVAL_MS);
  }

  long retryBackoffMs() {
    return getLong(ArchiveSinkSettings.RETRY_BACKOFF_MS);
  }

  long takeoverTimeoutMs() {
    return getLong(ArchiveSinkSettings.TAKEOVER_TIMEOUT_MS);
  }

  /** Whether rejected records are skipped: the framework's {@code errors.tolerance}. */
  boolean toleratesErrors() {
    return FrameworkSettings.tolerates(originalsStrings());
  }

  private Optional<String> text(String name) {
    return Optional.ofNullable(getString(name));
  }

  private Optional<Duration> duration(String name) {
    return Optional.ofNullable(getLong(name)).map(Duration::ofMillis);
  }
}
