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

/** What can be set of the archive sink. */
final class ArchiveSinkSettings {

  static final String DIRECTORY = "archive.dir";
  static final String URL = "archive.url";
  static final String PASSWORD = "archive.password";
  static final String PASSWORD_FILE = "archive.password.file";
  static final String TLS_CA = "archive.tls.ca";
  static final String SCHEMA = "archive.schema";
  static final String PARTITION_MS = "archive.partition.ms";
  static final String RETENTION_MS = "archive.retention.ms";
  static final String ROLL_BYTES = "archive.roll.bytes";
  static final String ROLL_INTERVAL_MS = "archive.roll.interval.ms";
  static final String REMEMBERED_MS = "archive.remembered.ms";
  static final String RETRY_BACKOFF_MS = "archive.retry.backoff.ms";
  static final String TAKEOVER_TIMEOUT_MS = "archive.takeover.timeout.ms";

  private static final String PLACE = "Archive";
  private static final String STORING = "Storing";
  private static final String TROUBLE = "Trouble";
  private static final long MIB = 1 << 20;
  private static final long HOUR_MS = TimeUnit.HOURS.toMillis(1);
  private static final Advice OF_A_DATABASE = Advice.whenSet(URL);

  static final ConfigDef DEFINITION = new ConfigDef();

  static {
    definePlace();
    defineStoring();
    defineTrouble();
  }

  private ArchiveSinkSettings() {}

  private static void definePlace() {
    int order = 0;
    DEFINITION
        .define(
            DIRECTORY, Type.STRING, null, new NonEmptyString(), Importance.HIGH,
            "Directory of a Parquet archive, on the worker; made if it is not there. Where several workers may run the"
                + " tasks, it must be one directory that all of them share. Either this or <code>archive.url</code>.",
            PLACE, ++order, Width.LONG, "Directory")
        .define(
            URL, Type.STRING, null, url(), Importance.HIGH,
            "Database of a PostgreSQL archive; the parameters are those of its JDBC driver. The user must own the"
                + " schemas, or be allowed to create them. Either this or <code>archive.dir</code>.",
            PLACE, ++order, Width.LONG, "Database")
        .define(
            PASSWORD, Type.PASSWORD, null, Importance.HIGH,
            "The database user's password. A worker's configuration provider keeps it out of the connector's"
                + " configuration: <code>${file:/etc/lifeline/secrets.properties:postgres}</code>.",
            PLACE, ++order, Width.MEDIUM, "Password", OF_A_DATABASE)
        .define(
            PASSWORD_FILE, Type.STRING, null, new NonEmptyString(), Importance.MEDIUM,
            "File on the worker whose first line is the password, where <code>archive.password</code> is not set; it is"
                + " read at each connection. Without either, the worker's <code>~/.pgpass</code> counts.",
            PLACE, ++order, Width.LONG, "Password file", OF_A_DATABASE)
        .define(
            TLS_CA, Type.STRING, null, new NonEmptyString(), Importance.MEDIUM,
            "PEM file of the authorities that may vouch for the database's server; turns TLS with its checks on.",
            PLACE, ++order, Width.LONG, "Authorities", OF_A_DATABASE)
        .define(
            SCHEMA, Type.STRING, PostgresOptions.DEFAULT_SCHEMA, schema(), Importance.LOW,
            "Schema of the views; the events' tables are in another one, with <code>_data</code> behind the name.",
            PLACE, ++order, Width.SHORT, "Schema", OF_A_DATABASE)
        .define(
            PARTITION_MS, Type.LONG, PostgresOptions.DEFAULT_PARTITION.toMillis(), wholeHours(), Importance.LOW,
            "Time in milliseconds that one partition of a table covers, in whole hours; decided when the archive is"
                + " made.",
            PLACE, ++order, Width.SHORT, "Partition",
            Advice.of(HOUR_MS, 24 * HOUR_MS, 7 * 24 * HOUR_MS).shownWhenSet(URL))
        .define(
            RETENTION_MS, Type.LONG, null, atLeast(HOUR_MS), Importance.MEDIUM,
            "After that time, in milliseconds, partitions are dropped; when it is not set they are kept.",
            PLACE, ++order, Width.SHORT, "Retention", OF_A_DATABASE);
  }

  private static void defineStoring() {
    int order = 0;
    DEFINITION
        .define(
            ROLL_BYTES, Type.LONG, null, atLeast(MIB), Importance.MEDIUM,
            "Events that a task holds in memory before it stores them, in bytes: 128 MiB for Parquet, whose files"
                + " become about as large before compression, 32 MiB for PostgreSQL, of which a transaction is half."
                + " For Parquet a task needs four times that and 512 MiB outside of the heap.",
            STORING, ++order, Width.MEDIUM, "Bytes held at most", Advice.of(32 * MIB, 128 * MIB, 512 * MIB))
        .define(
            ROLL_INTERVAL_MS, Type.LONG, null, atLeast(100), Importance.MEDIUM,
            "Age in milliseconds at which events are stored however few they are: how long one waits to see them by"
                + " SQL. 60,000 for Parquet, 1,000 for PostgreSQL.",
            STORING, ++order, Width.MEDIUM, "Longest time held", Advice.of(1_000L, 10_000L, 60_000L))
        .define(
            REMEMBERED_MS, Type.LONG, RollOptions.DEFAULT_REMEMBERED.toMillis(), Range.atLeast(60_000), Importance.LOW,
            "How long the batches of an emitter that went silent are known as repeats, in milliseconds. Keep it above"
                + " the topic's <code>retention.ms</code>.",
            STORING, ++order, Width.MEDIUM, "Repeats known for");
  }

  private static void defineTrouble() {
    int order = 0;
    DEFINITION
        .define(
            RETRY_BACKOFF_MS, Type.LONG, 5_000L, Range.atLeast(1), Importance.LOW,
            "Pause in milliseconds before the archive is tried again when it cannot be written, such as on a full disk."
                + " It is tried as long as it takes; nothing is lost meanwhile.",
            TROUBLE, ++order, Width.SHORT, "Pause between tries")
        .define(
            TAKEOVER_TIMEOUT_MS, Type.LONG, 120_000L, Range.atLeast(0), Importance.LOW,
            "How long in milliseconds a task waits for a partition that another writer of the same archive still holds,"
                + " such as its former task, before it fails. A database notices within a minute that a worker's"
                + " machine has gone.",
            TROUBLE, ++order, Width.SHORT, "Wait for another writer");
  }

  /** The framework's own range does not allow for a value that is not set. */
  private static Validator atLeast(long least) {
    return unlessNull("[" + least + ",...]", value -> (Long) value >= least);
  }

  private static Validator wholeHours() {
    return unlessNull("a multiple of " + HOUR_MS, value -> (Long) value > 0 && (Long) value % HOUR_MS == 0);
  }

  private static Validator schema() {
    return unlessNull(
        "small letters, digits and underscore, at most 50", value -> ((String) value).matches("[a-z_][a-z0-9_]{0,49}"));
  }

  /** A URL that is refused is not repeated: it may be so for the password in it. */
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
