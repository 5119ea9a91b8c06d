package io.lifeline.connect.archive;

import io.lifeline.jobs.archive.RollOptions;
import io.lifeline.jobs.archive.postgres.PostgresOptions;
import io.lifeline.jobs.archive.postgres.PostgresUrl;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.Importance;
import org.apache.kafka.common.config.ConfigDef.LambdaValidator;
import org.apache.kafka.common.config.ConfigDef.NonEmptyString;
import org.apache.kafka.common.config.ConfigDef.Range;
import org.apache.kafka.common.config.ConfigDef.Type;
import org.apache.kafka.common.config.ConfigDef.Validator;
import org.apache.kafka.common.config.ConfigDef.Width;
import org.apache.kafka.common.config.ConfigException;

/** The settings of the archive sink. */
final class ArchiveSinkSettings {

  static final String DIRECTORY = "archive.dir";
  static final String URL = "archive.url";
  static final String PASSWORD = "archive.password";
  static final String PASSWORD_FILE = "archive.password.file";
  static final String TLS_CA = "archive.tls.ca";
  static final String SCHEMA = "archive.schema";
  static final String PARTITION_MS = "archive.partition.ms";
  static final String RETENTION_MS = "archive.retention.ms";
  static final String COMPACT = "archive.compact";
  static final String ROLL_BYTES = "archive.roll.bytes";
  static final String ROLL_INTERVAL_MS = "archive.roll.interval.ms";
  static final String REMEMBERED_MS = "archive.remembered.ms";
  static final String RETRY_BACKOFF_MS = "archive.retry.backoff.ms";
  static final String TAKEOVER_TIMEOUT_MS = "archive.takeover.timeout.ms";

  private static final String PLACE = "Archive";
  private static final String BUFFERING = "Buffering";
  private static final String ERRORS = "Errors";
  private static final long MIB = 1 << 20;
  private static final long HOUR_MS = TimeUnit.HOURS.toMillis(1);
  private static final SettingRecommender OF_A_DATABASE = SettingRecommender.whenSet(URL);

  static final ConfigDef DEFINITION = new ConfigDef();

  static {
    definePlace();
    defineBuffering();
    defineErrors();
  }

  private ArchiveSinkSettings() {}

  private static void definePlace() {
    int order = 0;
    DEFINITION
        .define(
            DIRECTORY, Type.STRING, null, new NonEmptyString(), Importance.HIGH,
            "Directory of a Parquet archive on the worker; created if it does not exist. If several workers run tasks,"
                + " they must share this directory. Set either this or <code>archive.url</code>.",
            PLACE, ++order, Width.LONG, "Directory")
        .define(
            URL, Type.STRING, null, url(), Importance.HIGH,
            "URL of a PostgreSQL archive, with parameters of the JDBC driver. The user must own the schemas or have"
                + " permission to create them. Set either this or <code>archive.dir</code>.",
            PLACE, ++order, Width.LONG, "Database")
        .define(
            PASSWORD, Type.PASSWORD, null, Importance.HIGH,
            "Password of the database user. Use a configuration provider to keep it out of the connector's"
                + " configuration: <code>${file:/etc/lifeline/secrets.properties:postgres}</code>.",
            PLACE, ++order, Width.MEDIUM, "Password", OF_A_DATABASE)
        .define(
            PASSWORD_FILE, Type.STRING, null, new NonEmptyString(), Importance.MEDIUM,
            "File on the worker whose first line is the password, used if <code>archive.password</code> is not set and"
                + " read at each connection. If neither is set, the worker's <code>~/.pgpass</code> is used.",
            PLACE, ++order, Width.LONG, "Password file", OF_A_DATABASE)
        .define(
            TLS_CA, Type.STRING, null, new NonEmptyString(), Importance.MEDIUM,
            "PEM file of the CA certificates that verify the database server; enables TLS with verification.",
            PLACE, ++order, Width.LONG, "CA certificates", OF_A_DATABASE)
        .define(
            SCHEMA, Type.STRING, PostgresOptions.DEFAULT_SCHEMA, schema(), Importance.LOW,
            "Schema of the views; the event tables are in a second schema with the suffix <code>_data</code>.",
            PLACE, ++order, Width.SHORT, "Schema", OF_A_DATABASE)
        .define(
            PARTITION_MS, Type.LONG, PostgresOptions.DEFAULT_PARTITION.toMillis(), wholeHours(), Importance.LOW,
            "Time range of one table partition in milliseconds, a multiple of one hour; fixed when the archive is"
                + " created.",
            PLACE, ++order, Width.SHORT, "Partition",
            SettingRecommender.of(HOUR_MS, 24 * HOUR_MS, 7 * 24 * HOUR_MS).shownWhenSet(URL))
        .define(
            RETENTION_MS, Type.LONG, null, atLeast(HOUR_MS), Importance.MEDIUM,
            "Time in milliseconds after which partitions of a database, or Parquet files, are dropped. If not set,"
                + " nothing is dropped.",
            PLACE, ++order, Width.SHORT, "Retention")
        .define(
            COMPACT, Type.BOOLEAN, true, Importance.LOW,
            "Whether one of the tasks merges small Parquet files in the background. It takes at most a quarter of a"
                + " processor, and up to 512 MiB of off-heap memory.",
            PLACE, ++order, Width.SHORT, "Compaction", SettingRecommender.whenSet(DIRECTORY));
  }

  private static void defineBuffering() {
    int order = 0;
    DEFINITION
        .define(
            ROLL_BYTES, Type.LONG, null, atLeast(MIB), Importance.MEDIUM,
            "Maximum size in bytes of the events that a task buffers before it stores them. Default: 128 MiB for"
                + " Parquet, about the size of a file before compression; 32 MiB for PostgreSQL, twice the size of a"
                + " transaction. At most a quarter of the worker's heap. A Parquet task needs four times this size and"
                + " 512 MiB of off-heap memory.",
            BUFFERING, ++order, Width.MEDIUM, "Maximum buffered bytes",
            SettingRecommender.of(32 * MIB, 128 * MIB, 512 * MIB))
        .define(
            ROLL_INTERVAL_MS, Type.LONG, null, atLeast(100), Importance.MEDIUM,
            "Maximum time in milliseconds that a task buffers events before it stores them, and SQL sees them."
                + " Default: 60,000 for Parquet, 1,000 for PostgreSQL.",
            BUFFERING, ++order, Width.MEDIUM, "Maximum buffering time",
            SettingRecommender.of(1_000L, 10_000L, 60_000L))
        .define(
            REMEMBERED_MS, Type.LONG, RollOptions.DEFAULT_REMEMBERED.toMillis(), Range.atLeast(60_000), Importance.LOW,
            "Time in milliseconds for which duplicate batches of an inactive emitter are recognised. It should exceed"
                + " the topic's <code>retention.ms</code>.",
            BUFFERING, ++order, Width.MEDIUM, "Duplicate detection time");
  }

  private static void defineErrors() {
    int order = 0;
    DEFINITION
        .define(
            RETRY_BACKOFF_MS, Type.LONG, 5_000L, Range.atLeast(1), Importance.LOW,
            "Time in milliseconds to wait before retrying a failed write to the archive, for example on a full disk."
                + " Retries are unlimited; no records are lost meanwhile.",
            ERRORS, ++order, Width.SHORT, "Retry backoff")
        .define(
            TAKEOVER_TIMEOUT_MS, Type.LONG, 120_000L, Range.atLeast(0), Importance.LOW,
            "Time in milliseconds that a task waits for a partition locked by another writer, such as its previous"
                + " task, before it fails. A database detects the failure of a worker's machine within a minute.",
            ERRORS, ++order, Width.SHORT, "Takeover timeout");
  }

  /** The framework's range rejects null. */
  private static Validator atLeast(long least) {
    return unlessNull("[" + least + ",...]", value -> (Long) value >= least);
  }

  private static Validator wholeHours() {
    return unlessNull("a multiple of " + HOUR_MS, value -> (Long) value > 0 && (Long) value % HOUR_MS == 0);
  }

  private static Validator schema() {
    return unlessNull(
        "at most 50 lowercase letters, digits and underscores",
        value -> ((String) value).matches("[a-z_][a-z0-9_]{0,49}"));
  }

  /** The message omits the refused URL, which may hold a password. */
  private static Validator url() {
    return LambdaValidator.with(
        (name, value) -> {
          try {
            if (value != null) {
              PostgresUrl.parse((String) value);
            }
          } catch (IllegalArgumentException e) {
            throw new ConfigException(name + ": " + e.getMessage());
          }
        },
        () -> PostgresUrl.ALLOWED);
  }

  private static Validator unlessNull(String allowed, Predicate<Object> test) {
    return LambdaValidator.with(
        (name, value) -> {
          if (value != null && !test.test(value)) {
            throw new ConfigException(name, value, "expected " + allowed);
          }
        },
        () -> allowed);
  }
}
