package io.lifeline.jobs.core.pair;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.EventType;
import io.lifeline.codec.Field;
import io.lifeline.codec.FieldType;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;

/**
 * One side of the pairs of an operation: the events of one type whose name ends with {@code .start} or {@code .end}.
 *
 * @param operation the type's name without that ending
 * @param fields indexes of the fields that identify a pair
 * @param duration type of the events that such pairs become
 */
record Half(String operation, boolean isStart, int[] fields, EventType duration) {

  private static final String START = ".start";
  private static final String END = ".end";
  private static final String DURATION = ".duration";
  private static final int MAX_NAME = 255;

  /** Maximum length of a pair's values. They must fit into an event even if invalid UTF-8 triples their length. */
  private static final int MAX_TEXT = 8000;

  /** Returns the half that events of the type are, or null if they are none. */
  static Half of(EventType type, List<String> by) {
    boolean isStart = type.name().endsWith(START);
    if (!isStart && !type.name().endsWith(END)) {
      return null;
    }
    int[] fields = by.stream().mapToInt(type::fieldIndex).toArray();
    for (int field : fields) {
      if (field < 0 || type.fields().get(field).type().isFloating()) {
        return null;
      }
    }
    String operation = type.name().substring(0, type.name().length() - (isStart ? START : END).length());
    return isName(operation + DURATION)
        ? new Half(operation, isStart, fields, duration(operation, type, fields))
        : null;
  }

  private static boolean isName(String type) {
    return !type.equals(DURATION) && type.getBytes(StandardCharsets.UTF_8).length <= MAX_NAME;
  }

  /** Returns the pair that the current event belongs to; null if its values are too long. */
  Pair pair(BatchReader event) {
    List<Object> values = new ArrayList<>(fields.length);
    int length = 0;
    for (int field : fields) {
      length += event.valueLength(field);
      if (length > MAX_TEXT) {
        return null;
      }
      values.add(
          switch (event.type().fields().get(field).type()) {
            case STRING -> event.getString(field);
            case BYTES -> HexFormat.of().formatHex(event.getBytes(field));
            default -> event.getLong(field);
          });
    }
    return new Pair(operation, values);
  }

  /** Returns the values of a duration's fields. */
  Object[] values(Pair pair, long durationNs) {
    Object[] values = new Object[fields.length + 1];
    for (int i = 0; i < fields.length; i++) {
      values[i] = value(duration.fields().get(i).type(), pair.values().get(i));
    }
    values[fields.length] = durationNs;
    return values;
  }

  private static Object value(FieldType type, Object value) {
    return switch (type) {
      case BOOL -> value.equals(1L);
      case STRING -> value.toString().getBytes(StandardCharsets.UTF_8);
      case BYTES -> HexFormat.of().parseHex(value.toString());
      default -> value;
    };
  }

  private static EventType duration(String operation, EventType type, int[] fields) {
    EventType.Builder builder = EventType.named(operation + DURATION).level(type.level());
    Set<String> names = new HashSet<>();
    for (int i : fields) {
      Field field = type.fields().get(i);
      names.add(field.name());
      builder.field(field.name(), field.type(), field.unit());
    }
    String name = "duration";
    while (names.contains(name)) {
      name += "_";
    }
    return builder.field(name, FieldType.I64, "ns").build();
  }
}
