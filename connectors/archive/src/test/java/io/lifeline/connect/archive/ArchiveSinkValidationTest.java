package io.lifeline.connect.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.apache.kafka.common.config.ConfigValue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the REST interface says of a configuration, before anything runs. */
class ArchiveSinkValidationTest {

  @TempDir Path directory;

  @Test
  void aConfigurationThatFitsHasNoErrors() {
    assertThat(errors()).isEmpty();
    assertThat(directory.resolve("archive")).as("nothing is made by looking").doesNotExist();
  }

  @Test
  void theDirectoryMustBeGiven() {
    assertThat(errors("archive.dir", null))
        .containsExactly(entry("archive.dir", "Missing required configuration \"archive.dir\" which has no default value."));
  }

  @Test
  void theDirectoryMustBeOne() throws IOException {
    Path file = Files.createFile(directory.resolve("file"));
    assertThat(errors("archive.dir", file.resolve("archive").toString()))
        .containsExactly(entry("archive.dir", file + " is no directory"));
  }

  @Test
  void anArchiveBelongsToOneTopic() {
    assertThat(errors("topics", "one,two").get("topics")).startsWith("an archive belongs to one topic");
    assertThat(errors("topics", null, "topics.regex", "lifeline.*").get("topics.regex"))
        .startsWith("an archive belongs to one topic");
  }

  @Test
  void aDeadLetterQueueNeedsTolerance() {
    String queue = "errors.deadletterqueue.topic.name";
    assertThat(errors(queue, "rejected"))
        .containsExactly(
            entry(
                "errors.tolerance",
                "the dead letter queue is never used unless errors.tolerance=all: the first error ends the task"));
    assertThat(errors(queue, "rejected", "errors.tolerance", "all")).isEmpty();
  }

  @Test
  void theConverterMustLeaveABatchItsBytes() {
    String bytes = "org.apache.kafka.connect.converters.ByteArrayConverter";
    String batch = "io.lifeline.connect.batch.BatchConverter";
    assertThat(errors("value.converter", "org.apache.kafka.connect.json.JsonConverter"))
        .containsExactly(entry("value.converter", "the archive needs a batch's bytes: set " + bytes));
    assertThat(errors("value.converter", batch)).containsOnlyKeys("value.converter");
    assertThat(errors("value.converter", batch, "value.converter.output", "bytes")).isEmpty();
    assertThat(errors("value.converter", bytes)).isEmpty();
  }

  @Test
  void theGroupMayNotStartAtTheTopicsEnd() {
    String reset = "consumer.override.auto.offset.reset";
    assertThat(errors(reset, "latest")).containsOnlyKeys(reset);
    assertThat(errors(reset, "earliest")).isEmpty();
  }

  @Test
  void aRollBelowItsLimitsIsRefused() {
    assertThat(errors("archive.roll.bytes", "1000", "archive.roll.interval.ms", "1"))
        .containsOnlyKeys("archive.roll.bytes", "archive.roll.interval.ms");
  }

  @Test
  void theShippedExamplesAreValid() throws IOException {
    for (Path example : List.of(Path.of("src/component/etc/archive-sink.properties"))) {
      Properties shipped = new Properties();
      try (var in = Files.newInputStream(example)) {
        shipped.load(in);
      }
      Map<String, String> settings = new HashMap<>();
      shipped.stringPropertyNames().forEach(name -> settings.put(name, shipped.getProperty(name)));
      assertThat(errors(settings)).as(example.toString()).isEmpty();
      assertThat(settings.keySet().stream().filter(name -> name.startsWith("archive.")))
          .isSubsetOf(ArchiveSinkConfig.DEFINITION.names());
    }
  }

  private Map<String, String> errors(String... changes) {
    Map<String, String> settings = new HashMap<>();
    settings.put("topics", "lifeline.batches");
    settings.put("archive.dir", directory.resolve("archive").toString());
    for (int i = 0; i < changes.length; i += 2) {
      if (changes[i + 1] == null) {
        settings.remove(changes[i]);
      } else {
        settings.put(changes[i], changes[i + 1]);
      }
    }
    return errors(settings);
  }

  private static Map<String, String> errors(Map<String, String> settings) {
    Map<String, String> errors = new TreeMap<>();
    for (ConfigValue value : new ArchiveSink().validate(settings).configValues()) {
      value.errorMessages().forEach(message -> errors.merge(value.name(), message, (a, b) -> a + "; " + b));
    }
    return errors;
  }
}
