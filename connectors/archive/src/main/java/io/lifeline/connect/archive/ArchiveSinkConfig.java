package io.lifeline.connect.archive;

import io.lifeline.jobs.archive.Archive;
import io.lifeline.jobs.archive.RollOptions;
import io.lifeline.jobs.archive.parquet.ParquetArchive;
import io.lifeline.jobs.archive.parquet.ParquetOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.Importance;
import org.apache.kafka.common.config.ConfigDef.NonEmptyString;
import org.apache.kafka.common.config.ConfigDef.Range;
import org.apache.kafka.common.config.ConfigDef.Type;
import org.apache.kafka.common.config.ConfigDef.Width;
import org.apache.kafka.common.config.ConfigValue;

/** The settings of the archive sink. */
final class ArchiveSinkConfig extends AbstractConfig {

  static final String DIRECTORY = "archive.dir";
  static final String ROLL_BYTES = "archive.roll.bytes";
  static final String ROLL_INTERVAL_MS = "archive.roll.interval.ms";
  static final String REMEMBERED_MS = "archive.remembered.ms";
  static final String RETRY_BACKOFF_MS = "archive.retry.backoff.ms";
  static final String TAKEOVER_TIMEOUT_MS = "archive.takeover.timeout.ms";

  private static final String PLACE = "Archive";
  private static final String STORING = "Storing";
  private static final String TROUBLE = "Trouble";
  private static final long SMALLEST_ROLL_BYTES = 1 << 20;
  private static final Suggestions ROLL_SIZES = new Suggestions(32L << 20, 128L << 20, 512L << 20);

  static final ConfigDef DEFINITION =
      new ConfigDef()
          .define(
              DIRECTORY,
              Type.STRING,
              ConfigDef.NO_DEFAULT_VALUE,
              new NonEmptyString(),
              Importance.HIGH,
              "Directory of the Parquet archive, on the worker; made if it is not there. Where several workers may run"
                  + " the tasks, it must be one directory that all of them share.",
              PLACE,
              1,
              Width.LONG,
              "Directory")
          .define(
              ROLL_BYTES,
              Type.LONG,
              ParquetOptions.DEFAULT_ROLL.bytes(),
              Range.atLeast(SMALLEST_ROLL_BYTES),
              Importance.MEDIUM,
              "Events that a task holds in memory before it stores them, in bytes. Parquet files become about as large,"
                  + " before compression. A task needs four times that and 512 MiB outside of the heap.",
              STORING,
              1,
              Width.MEDIUM,
              "Bytes held at most",
              List.of(),
              ROLL_SIZES)
          .define(
              ROLL_INTERVAL_MS,
              Type.LONG,
              ParquetOptions.DEFAULT_ROLL.interval().toMillis(),
              Range.atLeast(100),
              Importance.MEDIUM,
              "Age in milliseconds at which events are stored however few they are: how long one waits to see them"
                  + " by SQL.",
              STORING,
              2,
              Width.MEDIUM,
              "Longest time held")
          .define(
              REMEMBERED_MS,
              Type.LONG,
              ParquetOptions.DEFAULT_ROLL.remembered().toMillis(),
              Range.atLeast(60_000),
              Importance.LOW,
              "How long the batches of an emitter that went silent are known as repeats, in milliseconds. Keep it above"
                  + " the topic's <code>retention.ms</code>.",
              STORING,
              3,
              Width.MEDIUM,
              "Repeats known for")
          .define(
              RETRY_BACKOFF_MS,
              Type.LONG,
              5_000L,
              Range.atLeast(1),
              Importance.LOW,
              "Pause in milliseconds before the archive is tried again when it cannot be written, such as on a full"
                  + " disk. It is tried as long as it takes; nothing is lost meanwhile.",
              TROUBLE,
              1,
              Width.SHORT,
              "Pause between tries")
          .define(
              TAKEOVER_TIMEOUT_MS,
              Type.LONG,
              60_000L,
              Range.atLeast(0),
              Importance.LOW,
              "How long in milliseconds a task waits for a partition that another writer of the same archive still"
                  + " holds, such as its former task, before it fails.",
              TROUBLE,
              2,
              Width.SHORT,
              "Wait for another writer");

  ArchiveSinkConfig(Map<String, String> properties) {
    super(DEFINITION, properties);
  }

  Archive archive() {
    RollOptions roll =
        new RollOptions(
            getLong(ROLL_BYTES),
            Duration.ofMillis(getLong(ROLL_INTERVAL_MS)),
            Duration.ofMillis(getLong(REMEMBERED_MS)));
    return new ParquetArchive(ParquetOptions.in(directory()).withRoll(roll));
  }

  private Path directory() {
    return Path.of(getString(DIRECTORY));
  }

  long rollIntervalMs() {
    return getLong(ROLL_INTERVAL_MS);
  }

  long retryBackoffMs() {
    return getLong(RETRY_BACKOFF_MS);
  }

  long takeoverTimeoutMs() {
    return getLong(TAKEOVER_TIMEOUT_MS);
  }

  /** Whether rejected records are passed by; the framework's setting, of which a task sees the text. */
  boolean toleratesErrors() {
    return SurroundingSettings.tolerates(originalsStrings());
  }

  /** Puts an error on the setting by which the archive cannot be reached; changes nothing there. */
  void testAccess(List<ConfigValue> values) {
    Path nearest = directory().toAbsolutePath();
    while (nearest != null && !Files.exists(nearest)) {
      nearest = nearest.getParent();
    }
    if (nearest == null || !Files.isDirectory(nearest)) {
      error(values, DIRECTORY, nearest + " is no directory");
    } else if (!Files.isWritable(nearest)) {
      error(values, DIRECTORY, nearest + " cannot be written by the worker's user");
    }
  }

  private static void error(List<ConfigValue> values, String name, String message) {
    values.stream().filter(value -> value.name().equals(name)).forEach(value -> value.addErrorMessage(message));
  }
}
