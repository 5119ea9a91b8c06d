package io.lifeline.ksql;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.Constant;
import io.lifeline.codec.FieldType;

/** Values as text that a CAST in SQL reads back: bytes in hex, unsigned numbers without a sign. */
final class ValueText {

  private static final char[] HEX = "0123456789abcdef".toCharArray();

  private ValueText() {}

  static String of(BatchReader batch, int field, FieldType type) {
    switch (type) {
      case F32:
        return Float.toString((float) batch.getDouble(field));
      case F64:
        return Double.toString(batch.getDouble(field));
      case BOOL:
        return Boolean.toString(batch.getBoolean(field));
      case STRING:
        return batch.getString(field);
      case BYTES:
        return hex(batch.getBytes(field));
      case U64:
        return Long.toUnsignedString(batch.getLong(field));
      default:
        return Long.toString(batch.getLong(field));
    }
  }

  static String of(Constant constant) {
    Object value = constant.value();
    if (value instanceof byte[]) {
      return hex((byte[]) value);
    }
    return constant.type() == FieldType.U64 ? Long.toUnsignedString(((Number) value).longValue()) : value.toString();
  }

  private static String hex(byte[] bytes) {
    StringBuilder text = new StringBuilder(2 * bytes.length);
    for (byte b : bytes) {
      text.append(HEX[b >> 4 & 15]).append(HEX[b & 15]);
    }
    return text.toString();
  }
}
