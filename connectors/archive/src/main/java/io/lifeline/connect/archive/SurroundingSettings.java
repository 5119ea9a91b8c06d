package io.lifeline.connect.archive;

import io.lifeline.connect.batch.BatchConverter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.config.ConfigValue;

/** The framework's own settings that decide whether an archive can be exact, looked at before anything starts. */
final class SurroundingSettings {

  static final String VALUE_CONVERTER = "value.converter";
  static final String BYTES_CONVERTER = "org.apache.kafka.connect.converters.ByteArrayConverter";
  static final String TOLERANCE = "errors.tolerance";

  private static final String TOPICS = "topics";
  private static final String TOPICS_REGEX = "topics.regex";
  private static final String DEAD_LETTERS = "errors.deadletterqueue.topic.name";
  private static final String OFFSET_RESET = "consumer.override.auto.offset.reset";

  private SurroundingSettings() {}

  /** One entry, with its error, for each setting that does not fit. */
  static List<ConfigValue> unfit(Map<String, String> settings) {
    List<ConfigValue> unfit = new ArrayList<>();
    if (!text(settings, TOPICS_REGEX).isEmpty()) {
      unfit.add(error(TOPICS_REGEX, "an archive belongs to one topic: name it in topics"));
    } else if (text(settings, TOPICS).contains(",")) {
      unfit.add(
          error(TOPICS, "an archive belongs to one topic: give each topic a connector and an archive of its own"));
    }
    if (!text(settings, DEAD_LETTERS).isEmpty() && !tolerates(settings)) {
      unfit.add(
          error(
              TOLERANCE,
              "the dead letter queue is never used unless " + TOLERANCE + "=all: the first error ends the task"));
    }
    String converter = text(settings, VALUE_CONVERTER);
    if (!converter.isEmpty() && !givesBytes(converter, settings)) {
      unfit.add(error(VALUE_CONVERTER, "the archive needs a batch's bytes: set " + BYTES_CONVERTER));
    }
    if (!Set.of("", "earliest").contains(text(settings, OFFSET_RESET))) {
      unfit.add(error(OFFSET_RESET, "anything but earliest would leave out batches that the topic still has"));
    }
    return unfit;
  }

  static boolean tolerates(Map<String, String> settings) {
    return text(settings, TOLERANCE).equals("all");
  }

  /** Others may do so as well, but the well-known ones do not, and would fail with the first record. */
  private static boolean givesBytes(String converter, Map<String, String> settings) {
    if (converter.equals(BatchConverter.class.getName())) {
      return text(settings, VALUE_CONVERTER + ".output").equals("bytes");
    }
    return !converter.startsWith("org.apache.kafka.connect.") || converter.equals(BYTES_CONVERTER);
  }

  private static String text(Map<String, String> settings, String name) {
    String value = settings.get(name);
    return value == null ? "" : value.trim();
  }

  private static ConfigValue error(String name, String message) {
    return new ConfigValue(name, null, List.of(), List.of(message));
  }
}
