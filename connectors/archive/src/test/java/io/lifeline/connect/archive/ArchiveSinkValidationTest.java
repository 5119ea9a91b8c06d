package io.lifeline.connect.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.stream.Stream;
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
  void anArchiveHasOnePlace() {
    assertThat(errors("archive.dir", null))
        .containsExactly(
            entry(
                "archive.url",
                "no archive is configured: set archive.dir (a directory of Parquet files) or archive.url (a PostgreSQL"
                    + " database)"));
    assertThat(errors("archive.url", "postgresql://127.0.0.1/lifeline"))
        .containsExactly(
            entry(
                "archive.dir",
                "archive.dir and archive.url are both set: remove one"));
  }

  @Test
  void aDatabaseThatIsNotThereIsToldBeforeAnythingRuns() {
    String url = "postgresql://somebody@127.0.0.1:1/lifeline";
    assertThat(errors("archive.dir", null, "archive.url", url).get("archive.url"))
        .startsWith("cannot connect to the archive in postgresql://127.0.0.1:1/lifeline: ");
  }

  @Test
  void aUrlWithAPasswordIsRefusedWithoutRepeatingIt() {
    Map<String, String> errors = errors("archive.dir", null, "archive.url", "postgresql://me:hush@127.0.0.1/lifeline");
    assertThat(errors).containsOnlyKeys("archive.url");
    assertThat(errors.get("archive.url")).contains("without a password").doesNotContain("hush");
  }

  @Test
  void aPasswordIsNeverShown() {
    Map<String, String> settings =
        Map.of("archive.url", "postgresql://127.0.0.1/lifeline", "archive.password", "hush", "topics", "batches");
    assertThat(new ArchiveSinkConfig(settings).values().toString()).doesNotContain("hush");
  }

  @Test
  void whatOnlyADatabaseNeedsIsShownOnlyForOne() {
    List<String> shown = shown(Map.of("archive.dir", "archive"));
    assertThat(shown).contains("archive.dir", "archive.roll.bytes").doesNotContain("archive.password");
    assertThat(shown(Map.of("archive.url", "postgresql://127.0.0.1/lifeline"))).contains("archive.password");
  }

  @Test
  void theDirectoryMustBeOne() throws IOException {
    Path file = Files.createFile(directory.resolve("file"));
    assertThat(errors("archive.dir", file.resolve("archive").toString()))
        .containsExactly(entry("archive.dir", file + " is not a directory"));
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
                "the dead letter queue is unused: set errors.tolerance=all, or the first error fails the task"));
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
  void theShippedExamplesDifferFromWhatIsValidInTheirSurroundingsAlone() throws IOException {
    try (Stream<Path> examples = Files.list(Path.of("src/component/etc"))) {
      for (Path example : examples.toList()) {
        Map<String, String> settings = read(example);
        assertThat(settings.keySet().stream().filter(name -> name.startsWith("archive.")))
            .as(example.toString())
            .isSubsetOf(ArchiveSinkSettings.DEFINITION.names());
        settings.keySet().removeIf(name -> name.startsWith("archive."));
        settings.put("archive.dir", directory.toString());
        assertThat(errors(settings)).as(example.toString()).isEmpty();
      }
    }
  }

  private static Map<String, String> read(Path example) throws IOException {
    if (example.toString().endsWith(".json")) {
      JsonNode config = new ObjectMapper().readTree(example.toFile()).path("config");
      return new ObjectMapper().convertValue(config, new TypeReference<Map<String, String>>() {});
    }
    Properties properties = new Properties();
    try (InputStream in = Files.newInputStream(example)) {
      properties.load(in);
    }
    Map<String, String> settings = new HashMap<>();
    properties.stringPropertyNames().forEach(name -> settings.put(name, properties.getProperty(name)));
    return settings;
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

  private static List<String> shown(Map<String, String> settings) {
    return ArchiveSinkSettings.DEFINITION.validate(settings).stream()
        .filter(ConfigValue::visible)
        .map(ConfigValue::name)
        .toList();
  }
}
