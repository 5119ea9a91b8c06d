package io.lifeline.jobs.core.summarise;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.EventType;
import io.lifeline.codec.Field;
import io.lifeline.jobs.core.KeyText;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Key of a summary, such as {@code field=nbytes,unit=B,type=disk.read.end}, with values encoded by {@link KeyText}.
 */
final class SummaryKey {

  private SummaryKey() {}

  static String of(SummariseSettings settings, BatchReader batch, EventType type, Field field) {
    StringBuilder key = new StringBuilder();
    append(key, "field", field.name());
    append(key, "unit", field.unit());
    for (GroupBy by : settings.by()) {
      append(key, by.label(), by.value(batch, type));
    }
    return key.toString();
  }

  /** Returns name and value of each part, in order. */
  static Map<String, String> parts(String key) {
    Map<String, String> parts = new LinkedHashMap<>();
    for (String part : key.split(",")) {
      int equals = part.indexOf('=');
      parts.put(part.substring(0, equals), KeyText.decode(part.substring(equals + 1)));
    }
    return parts;
  }

  private static void append(StringBuilder key, String name, String value) {
    key.append(key.isEmpty() ? "" : ",").append(name).append('=').append(KeyText.encode(value));
  }
}
