package io.lifeline.ksql;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.Constant;
import io.lifeline.codec.EventType;
import io.lifeline.codec.Field;
import io.lifeline.codec.RejectedBatchException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One event, with type-specific values as text, so that events of all types fit into one column. Independent of the
 * query engine.
 */
final class EventRow {

  /** Constants are in a batch once but in every row, so the size of a batch does not limit that of its rows. */
  private static final long MAX_VALUES = 2_000_000;

  /** The field that links events of one object. */
  private static final String ID = "id";

  final long timeNs;
  final String type;
  final String level;
  final String host;
  final String program;

  /** Null if the type has no such field. */
  final String id;

  /** The type's constants, then its fields, in the type's order. */
  final Map<String, String> fields;

  private EventRow(BatchReader batch, Map<EventType, Map<String, String>> constants) {
    EventType eventType = batch.type();
    timeNs = batch.timeNs();
    type = eventType.name();
    level = eventType.level().label();
    host = batch.host();
    program = batch.program();
    Map<String, String> texts = new LinkedHashMap<>(constants.computeIfAbsent(eventType, EventRow::constantsOf));
    List<Field> declared = eventType.fields();
    for (int i = 0; i < declared.size(); i++) {
      texts.put(declared.get(i).name(), ValueText.of(batch, i, declared.get(i).type()));
    }
    fields = Collections.unmodifiableMap(texts);
    id = texts.get(ID);
  }

  /**
   * Returns all events of a batch, in order.
   *
   * @throws RejectedBatchException if the bytes are not a valid batch
   * @throws IllegalArgumentException if its rows would have too many values
   */
  static List<EventRow> of(byte[] bytes) throws RejectedBatchException {
    BatchReader batch = new BatchReader().read(bytes, 0, bytes.length);
    long values = 0;
    while (batch.next()) {
      values += batch.type().constants().size() + batch.type().fields().size();
    }
    if (values > MAX_VALUES) {
      throw new IllegalArgumentException(
          "too_many_values: " + values + " in the rows of one batch, of which " + MAX_VALUES + " may be");
    }
    batch.read(bytes, 0, bytes.length);
    Map<EventType, Map<String, String>> constants = new HashMap<>();
    List<EventRow> rows = new ArrayList<>(batch.eventCount());
    while (batch.next()) {
      rows.add(new EventRow(batch, constants));
    }
    return rows;
  }

  private static Map<String, String> constantsOf(EventType type) {
    Map<String, String> texts = new LinkedHashMap<>();
    for (Constant constant : type.constants()) {
      texts.put(constant.name(), ValueText.of(constant));
    }
    return texts;
  }
}
