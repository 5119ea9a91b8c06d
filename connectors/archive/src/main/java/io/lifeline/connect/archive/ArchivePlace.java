package io.lifeline.connect.archive;

import io.lifeline.jobs.core.ledger.ArchivedEvents;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.config.ConfigValue;

/** Checks the location of the archive without changing it. */
final class ArchivePlace {

  private static final String NONE =
      "no archive is configured: set archive.dir (a directory of Parquet files) or archive.url (a PostgreSQL database)";
  private static final String BOTH =
      "archive.dir and archive.url are both set: remove one";

  private ArchivePlace() {}

  static void check(boolean directory, boolean url) {
    if (directory == url) {
      throw new ConfigException(directory ? BOTH : NONE);
    }
  }

  /** Adds an error to the setting of an unavailable archive. */
  static void test(ArchiveSinkConfig config, List<ConfigValue> values) {
    try {
      config.archive();
    } catch (ConfigException e) {
      String setting = config.directory().isPresent() ? ArchiveSinkSettings.DIRECTORY : ArchiveSinkSettings.URL;
      error(values, setting, e.getMessage());
      return;
    }
    if (config.directory().isPresent()) {
      testDirectory(config.directory().get(), values);
    } else {
      testConnection(config, values);
    }
  }

  private static void testDirectory(Path directory, List<ConfigValue> values) {
    Path nearest = directory.toAbsolutePath();
    while (nearest != null && !Files.exists(nearest)) {
      nearest = nearest.getParent();
    }
    if (nearest == null || !Files.isDirectory(nearest)) {
      error(values, ArchiveSinkSettings.DIRECTORY, nearest + " is not a directory");
    } else if (!Files.isWritable(nearest)) {
      error(values, ArchiveSinkSettings.DIRECTORY, nearest + " cannot be written by the worker's user");
    }
  }

  /** Connects as a task does, and reads; within 10 s. */
  private static void testConnection(ArchiveSinkConfig config, List<ConfigValue> values) {
    try (ArchivedEvents counts = config.archive().counts()) {
      counts.count();
    } catch (IOException e) {
      error(values, ArchiveSinkSettings.URL, e.getMessage());
    }
  }

  private static void error(List<ConfigValue> values, String name, String message) {
    values.stream().filter(value -> value.name().equals(name)).forEach(value -> value.addErrorMessage(message));
  }
}
