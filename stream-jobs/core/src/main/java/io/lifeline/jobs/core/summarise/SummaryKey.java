package io.lifeline.jobs.core.summarise;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.EventType;
import io.lifeline.codec.Field;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What a summary is about, as {@code field=nbytes,unit=B,type=disk.read.end}: text that is safe in message ids and
 * keys, since everything but plain ASCII is percent-encoded.
 */
final class SummaryKey {

  private static final String PLAIN = "._-/*+";

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

  /** Name and value of each part, in order. */
  static Map<String, String> parts(String key) {
    Map<String, String> parts = new LinkedHashMap<>();
    for (String part : key.split(",")) {
      int equals = part.indexOf('=');
      parts.put(part.substring(0, equals), decode(part.substring(equals + 1)));
    }
    return parts;
  }

  private static void append(StringBuilder key, String name, String value) {
    key.append(key.isEmpty() ? "" : ",").append(name).append('=');
    for (byte b : value.getBytes(StandardCharsets.UTF_8)) {
      boolean plain = b > 0 && (Character.isLetterOrDigit(b) || PLAIN.indexOf(b) >= 0);
      if (plain) {
        key.append((char) b);
      } else {
        key.append(String.format("%%%02X", b & 0xFF));
      }
    }
  }

  private static String decode(String value) {
    byte[] bytes = new byte[value.length()];
    int length = 0;
    for (int i = 0; i < value.length(); i++) {
      if (value.charAt(i) == '%') {
        bytes[length++] = (byte) Integer.parseInt(value, i + 1, i + 3, 16);
        i += 2;
      } else {
        bytes[length++] = (byte) value.charAt(i);
      }
    }
    return new String(bytes, 0, length, StandardCharsets.UTF_8);
  }
}
