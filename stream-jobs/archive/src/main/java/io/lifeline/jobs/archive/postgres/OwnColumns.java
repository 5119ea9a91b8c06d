package io.lifeline.jobs.archive.postgres;

import io.lifeline.codec.ColumnarBatch;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Utf8;
import io.lifeline.jobs.archive.Sql;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** A column per field, in a table that belongs to one type. */
final class OwnColumns implements TypeColumns {
  private static final int VARIES = -1;

  private final EventTable.Version version;
  private final FieldType[] fields;
  private final long[][] longs;
  private final double[][] doubles;
  private ColumnarBatch.Columns events;

  OwnColumns(EventType type, EventTable.Version version) {
    this.version = version;
    this.fields = type.fields().stream().map(field -> field.type()).toArray(FieldType[]::new);
    this.longs = new long[fields.length][];
    this.doubles = new double[fields.length][];
  }

  @Override
  public List<String> names() {
    return version.fieldColumns();
  }

  @Override
  public void start(ColumnarBatch.Columns group) {
    events = group;
    for (int field = 0; field < fields.length; field++) {
      longs[field] = fields[field].isIntegral() ? group.longs(field) : null;
      doubles[field] = fields[field].isFloating() ? group.doubles(field) : null;
    }
  }

  @Override
  public void put(int event, CopyBuffer out) {
    for (int field = 0; field < fields.length; field++) {
      switch (fields[field]) {
        case I32 -> out.putInt((int) longs[field][event]);
        case I64, U32 -> out.putLong(longs[field][event]);
        case U64 -> out.putUnsigned(longs[field][event]);
        case BOOL -> out.putBool(longs[field][event] != 0);
        case F32 -> out.putFloat((float) doubles[field][event]);
        case F64 -> out.putDouble(doubles[field][event]);
        case BYTES -> out.putBytes(events.raw(), events.offsets(field)[event], events.lengths(field)[event]);
        case STRING -> putString(events.raw(), events.offsets(field)[event], events.lengths(field)[event], out);
      }
    }
  }

  @Override
  public Optional<List<Integer>> lengths() {
    List<Integer> lengths = Arrays.stream(fields).map(OwnColumns::length).toList();
    return lengths.contains(VARIES) ? Optional.empty() : Optional.of(lengths);
  }

  private static int length(FieldType type) {
    return switch (type) {
      case BOOL -> 1;
      case I32, F32 -> 4;
      case I64, U32, F64 -> 8;
      case U64, STRING, BYTES -> VARIES;
    };
  }

  @Override
  public void set(int firstEvent, int count, CopyBuffer out, int at, int rowLength) {
    int column = at;
    for (int field = 0; field < fields.length; field++) {
      column += 4;
      set(field, firstEvent, firstEvent + count, out, column, rowLength);
      column += length(fields[field]);
    }
  }

  private void set(int field, int from, int to, CopyBuffer out, int first, int rowLength) {
    long[] whole = longs[field];
    double[] real = doubles[field];
    int at = first;
    switch (fields[field]) {
      case BOOL -> {
        for (int i = from; i < to; i++, at += rowLength) {
          out.setByte(at, whole[i] != 0 ? 1 : 0);
        }
      }
      case I32 -> {
        for (int i = from; i < to; i++, at += rowLength) {
          out.setInt(at, (int) whole[i]);
        }
      }
      case I64, U32 -> {
        for (int i = from; i < to; i++, at += rowLength) {
          out.setLong(at, whole[i]);
        }
      }
      case F32 -> {
        for (int i = from; i < to; i++, at += rowLength) {
          out.setInt(at, Float.floatToRawIntBits((float) real[i]));
        }
      }
      case F64 -> {
        for (int i = from; i < to; i++, at += rowLength) {
          out.setLong(at, Double.doubleToRawLongBits(real[i]));
        }
      }
      default -> throw new IllegalStateException("values of " + fields[field] + " differ in length");
    }
  }

  private static void putString(byte[] raw, int offset, int length, CopyBuffer out) {
    if (Utf8.isWellFormed(raw, offset, length) && !holdsNul(raw, offset, length)) {
      out.putBytes(raw, offset, length);
    } else {
      byte[] repaired = Sql.clean(Utf8.decode(raw, offset, length)).getBytes(StandardCharsets.UTF_8);
      out.putBytes(repaired, 0, repaired.length);
    }
  }

  private static boolean holdsNul(byte[] raw, int offset, int length) {
    for (int i = offset; i < offset + length; i++) {
      if (raw[i] == 0) {
        return true;
      }
    }
    return false;
  }
}
