package io.lifeline.codec;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Writes records one after the other (FORMAT section 6). */
final class RecordWriter {
  private static final int TYPE_BITS = 16;
  private static final int MAX_RECORD = 32_768;

  private final GrowingBuffer out;

  RecordWriter(ByteOrder order) {
    out = new GrowingBuffer(order);
  }

  int length() {
    return out.length();
  }

  byte[] toByteArray() {
    return out.toByteArray();
  }

  /** Writes a record; returns its length with padding. */
  int write(int number, EventType type, long tick, Object... values) {
    if (values.length != type.fields().size()) {
      throw new IllegalArgumentException(
          type.name() + " has " + type.fields().size() + " fields, but " + values.length + " values were given");
    }
    int start = out.length();
    out.i64(tick << TYPE_BITS | number);
    for (int i = 0; i < values.length; i++) {
      Field field = type.fields().get(i);
      try {
        writeValue(field.type(), values[i]);
      } catch (ClassCastException e) {
        throw new IllegalArgumentException(
            type.name() + "." + field.name() + " is " + field.type() + ", not " + values[i].getClass().getSimpleName());
      } catch (ArithmeticException e) {
        throw new IllegalArgumentException(
            type.name() + "." + field.name() + ": the value does not fit " + field.type());
      }
    }
    out.padTo8();
    int length = out.length() - start;
    if (length > MAX_RECORD) {
      throw new IllegalArgumentException("an event of " + length + " bytes is above the limit of " + MAX_RECORD);
    }
    return length;
  }

  /** Appends existing records unchanged. */
  void copy(byte[] from, int offset, int length) {
    out.bytes(from, offset, length);
  }

  private void writeValue(FieldType type, Object value) {
    switch (type) {
      case I32:
      case U32:
        out.i32((int) inRange(((Number) value).longValue(), type));
        break;
      case I64:
      case U64:
        out.i64(((Number) value).longValue());
        break;
      case F32:
        out.i32(Float.floatToRawIntBits(((Number) value).floatValue()));
        break;
      case F64:
        out.i64(Double.doubleToRawLongBits(((Number) value).doubleValue()));
        break;
      case BOOL:
        out.u8((Boolean) value ? 1 : 0);
        break;
      case STRING:
        out.counted(value instanceof byte[] ? (byte[]) value : ((String) value).getBytes(StandardCharsets.UTF_8));
        break;
      default:
        out.counted((byte[]) value);
    }
  }

  /** Checks the range. The message does not include the value, which is the batch's payload. */
  private static long inRange(long value, FieldType type) {
    if (type == FieldType.I32 ? value != (int) value : value >>> 32 != 0) {
      throw new ArithmeticException();
    }
    return value;
  }
}
