package io.lifeline.jobs.archive.postgres;

import io.lifeline.jobs.archive.RollOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;

/**
 * Options of a PostgreSQL archive.
 *
 * @param url URL of the database
 * @param password null if none is needed, or if {@code ~/.pgpass} has it
 * @param tlsCa PEM file of CA certificates that verify the server; enables TLS; null to use the URL's settings
 * @param schema schema of the public tables and views; event tables are in the schema of that name with suffix {@code
 *     _data}
 * @param roll when events are stored; a transaction holds half of its bytes, because the next one is filled meanwhile
 * @param partition time span of one table partition; cannot be changed for an existing archive
 * @param retention age at which partitions are dropped; null to keep them
 */
public record PostgresOptions(
    PostgresUrl url,
    Password password,
    Path tlsCa,
    String schema,
    RollOptions roll,
    Duration partition,
    Duration retention) {
  public static final RollOptions DEFAULT_ROLL =
      new RollOptions(32L << 20, Duration.ofSeconds(1), RollOptions.DEFAULT_REMEMBERED);
  public static final String DEFAULT_SCHEMA = "lifeline";
  public static final Duration DEFAULT_PARTITION = Duration.ofDays(1);

  public PostgresOptions {
    Objects.requireNonNull(url, "url");
    Objects.requireNonNull(schema, "schema");
    Objects.requireNonNull(roll, "roll");
    if (partition.compareTo(Duration.ofHours(1)) < 0 || partition.toSeconds() % 3600 != 0) {
      throw new IllegalArgumentException("archive.partition must be whole hours, not " + partition);
    }
    if (retention != null && retention.compareTo(partition) < 0) {
      throw new IllegalArgumentException("archive.retention must be at least archive.partition, not " + retention);
    }
  }

  /**
   * Returns the defaults: rolls at 32 MiB (half per transaction) or one second, partitions of a day, unlimited
   * retention.
   */
  public static PostgresOptions at(PostgresUrl url) {
    return new PostgresOptions(url, null, null, DEFAULT_SCHEMA, DEFAULT_ROLL, DEFAULT_PARTITION, null);
  }

  public PostgresOptions withPassword(Password secret) {
    return new PostgresOptions(url, secret, tlsCa, schema, roll, partition, retention);
  }

  /** Sets the password file; null for no password. */
  public PostgresOptions withPasswordFile(Path file) {
    return withPassword(file == null ? null : Password.inFile(file));
  }

  public PostgresOptions withTlsCa(Path file) {
    return new PostgresOptions(url, password, file, schema, roll, partition, retention);
  }

  public PostgresOptions withSchema(String name) {
    return new PostgresOptions(url, password, tlsCa, name, roll, partition, retention);
  }

  public PostgresOptions withRoll(RollOptions when) {
    return new PostgresOptions(url, password, tlsCa, schema, when, partition, retention);
  }

  public PostgresOptions withPartition(Duration length) {
    return new PostgresOptions(url, password, tlsCa, schema, roll, length, retention);
  }

  public PostgresOptions withRetention(Duration age) {
    return new PostgresOptions(url, password, tlsCa, schema, roll, partition, age);
  }
}
