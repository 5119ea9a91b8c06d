package io.lifeline.codec;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Objects;

/** Reads everything that a reader provides about a batch, event by event and in columns, and compares the two. */
final class Walk {
  private final ColumnarBatch columns = new ColumnarBatch();

  void everything(BatchReader reader) {
    header(reader);
    long byEvent = 0;
    int events = 0;
    reader.rewind();
    while (reader.next()) {
      events++;
      byEvent += event(reader);
    }
    assertThat(events).isEqualTo(reader.eventCount());
    long byColumn = 0;
    for (ColumnarBatch.Columns group : columns.fill(reader).groups()) {
      byColumn += columns(group);
    }
    assertThat(byColumn).isEqualTo(byEvent);
  }

  private static void header(BatchReader reader) {
    BatchHeader header = reader.header();
    assertThat(List.of(reader.host(), reader.program(), reader.routeName(), reader.context())).doesNotContainNull();
    assertThat(header.calibrations()).isNotEmpty();
    assertThat(header.counterCount()).isGreaterThanOrEqualTo(Counter.values().length);
    assertThat(reader.isDerived()).isEqualTo(header.parent() != null);
    for (Counter counter : Counter.values()) {
      assertThat(reader.counter(counter)).isEqualTo(header.counter(counter.ordinal()));
    }
    assertThat(reader.types()).doesNotContainNull();
  }

  /** Returns a number that depends on every value of the event. */
  private static long event(BatchReader reader) {
    long sum = Objects.hash(reader.eventIndex(), reader.timeNs(), reader.thread(), reader.type());
    List<Field> fields = reader.type().fields();
    for (int field = 0; field < fields.size(); field++) {
      sum += value(reader, field, fields.get(field).type());
    }
    return sum;
  }

  private static long value(BatchReader reader, int field, FieldType type) {
    if (type.isFloating()) {
      assertThat(Double.doubleToLongBits(reader.getDouble(field))).isEqualTo(bits(reader, field, type));
      return Double.hashCode(reader.getDouble(field));
    }
    if (!type.isVariable()) {
      return Long.hashCode(reader.getLong(field));
    }
    if (type == FieldType.STRING) {
      assertThat(reader.getString(field).length()).isLessThanOrEqualTo(reader.valueLength(field));
    }
    assertThat(reader.getBytes(field)).hasSize(reader.valueLength(field));
    return Objects.hash(reader.valueOffset(field), reader.valueLength(field));
  }

  private static long bits(BatchReader reader, int field, FieldType type) {
    long bits = reader.getFloatBits(field);
    double value = type == FieldType.F32 ? Float.intBitsToFloat((int) bits) : Double.longBitsToDouble(bits);
    return Double.doubleToLongBits(value);
  }

  private static long columns(ColumnarBatch.Columns group) {
    long sum = 0;
    for (int i = 0; i < group.size(); i++) {
      sum += Objects.hash(group.eventIndex()[i], group.timeNs()[i], group.thread()[i], group.type());
    }
    List<Field> fields = group.type().fields();
    for (int field = 0; field < fields.size(); field++) {
      for (int i = 0; i < group.size(); i++) {
        sum += value(group, field, i);
      }
    }
    return sum;
  }

  private static long value(ColumnarBatch.Columns group, int field, int i) {
    FieldType type = group.type().fields().get(field).type();
    if (type.isFloating()) {
      return Double.hashCode(group.doubles(field)[i]);
    }
    return type.isVariable()
        ? Objects.hash(group.offsets(field)[i], group.lengths(field)[i])
        : Long.hashCode(group.longs(field)[i]);
  }
}
