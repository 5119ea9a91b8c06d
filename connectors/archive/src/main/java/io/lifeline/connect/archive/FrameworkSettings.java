package io.lifeline.connect.archive;

import io.lifeline.connect.batch.BatchConverter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.config.ConfigValue;

/** Validates the framework's settings that exactly-once archiving depends on. */
final class FrameworkSettings {

  static final String VALUE_CONVERTER = "value.converter";
  static final String BYTES_CONVERTER = "org.apache.kafka.connect.converters.ByteArrayConverter";
  static final String TOLERANCE = "errors.tolerance";

  private static final String TOPICS = "topics";
  private static final String TOPICS_REGEX = "topics.regex";
  private static final String DEAD_LETTERS = "errors.deadletterqueue.topic.name";
  private static final String OFFSET_RESET = "consumer.override.auto.offset.reset";

  private FrameworkSettings() {}

  /** One entry with an error for each incompatible setting. */
  static List<ConfigValue> unfit(Map<String, String> settings) {
    List<ConfigValue> unfit = new ArrayList<>();
    if (!text(settings, TOPICS_REGEX).isEmpty()) {
      unfit.add(error(TOPICS_REGEX, "an archive belongs to one topic: set topics instead"));
    } else if (text(settings, TOPICS).contains(",")) {
      unfit.add(
          error(TOPICS, "an archive belongs to one topic: create a connector and an archive per topic"));
    }
    if (!text(settings, DEAD_LETTERS).isEmpty() && !tolerates(settings)) {
      unfit.add(
          error(
              TOLERANCE,
              "the dead letter queue is unused: set " + TOLERANCE + "=all, or the first error fails the task"));
    }
    String converter = text(settings, VALUE_CONVERTER);
    if (!converter.isEmpty() && !givesBytes(converter, settings)) {
      unfit.add(error(VALUE_CONVERTER, "the archive needs a batch's bytes: set " + BYTES_CONVERTER));
    }
    if (!Set.of("", "earliest").contains(text(settings, OFFSET_RESET))) {
      unfit.add(error(OFFSET_RESET, "any value but earliest skips batches of the topic: set earliest"));
    }
    return unfit;
  }

  static boolean tolerates(Map<String, String> settings) {
    return text(settings, TOLERANCE).equals("all");
  }

  /** Rejects well-known converters that would fail with the first record; custom ones may work. */
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
