package io.lifeline.jobs.archive.postgres;

import io.lifeline.codec.ColumnarBatch;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Utf8;
import io.lifeline.jobs.archive.Sql;
import io.lifeline.jobs.archive.TypeEntry;
import io.lifeline.jobs.core.JsonWriter;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

/**
 * The values of one event, and the ID and the JSON that the view over all events shows of them.
 *
 * @param values one per field: a Long, a Double, or the bytes of a string or bytes
 */
record EventValues(EventTable.Version version, EventType type, Object[] values) {
  /** Memory of a reference and its object's header, or number. */
  private static final long VALUE_BYTES = 20;

  /** Copies the values of an event. */
  static EventValues of(EventTable.Version version, ColumnarBatch.Columns group, int event) {
    Object[] values = new Object[group.type().fields().size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = value(group, i, event);
    }
    return new EventValues(version, group.type(), values);
  }

  private static Object value(ColumnarBatch.Columns group, int field, int event) {
    FieldType type = group.type().fields().get(field).type();
    if (type.isVariable()) {
      int offset = group.offsets(field)[event];
      return Arrays.copyOfRange(group.raw(), offset, offset + group.lengths(field)[event]);
    }
    return type.isFloating() ? (Object) group.doubles(field)[event] : (Object) group.longs(field)[event];
  }

  /** Returns the memory used by the values, in bytes. */
  long bytes() {
    long sum = VALUE_BYTES * values.length;
    for (Object value : values) {
      sum += value instanceof byte[] bytes ? bytes.length : 0;
    }
    return sum;
  }

  /** Returns the ID that ties the event to a lifeline; null if it has none. */
  String id() {
    int field = version.type().idField();
    return field < 0 ? null : text(type.fields().get(field).type(), values[field]);
  }

  private static String text(FieldType type, Object value) {
    return switch (type) {
      case STRING -> Sql.clean(Utf8.decode((byte[]) value, 0, ((byte[]) value).length));
      case BYTES -> "\\x" + HexFormat.of().formatHex((byte[]) value);
      case U64 -> Long.toUnsignedString((Long) value);
      case BOOL -> Boolean.toString((Long) value != 0);
      case F32 -> FloatText.of(((Double) value).floatValue());
      case F64 -> FloatText.of((Double) value);
      case I32, I64, U32 -> value.toString();
    };
  }

  /** Returns fields and constants. */
  String json() {
    JsonWriter json = new JsonWriter();
    writeTo(json);
    return json.toString();
  }

  /** Writes fields and constants as an object. */
  void writeTo(JsonWriter json) {
    json.beginObject();
    List<String> columns = version.columns();
    for (int i = 0; i < values.length; i++) {
      write(json.name(columns.get(i)), type.fields().get(i).type(), values[i]);
    }
    List<TypeEntry.ConstantEntry> constants = version.type().constants();
    for (int i = 0; i < constants.size(); i++) {
      PostgresJson.constant(json.name(columns.get(values.length + i)), constants.get(i));
    }
    json.endObject();
  }

  private static void write(JsonWriter json, FieldType type, Object value) {
    boolean isText = type.isVariable() || value instanceof Double number && !Double.isFinite(number);
    if (isText) {
      json.value(text(type, value));
    } else {
      json.literal(text(type, value));
    }
  }
}
