package io.lifeline.codec;

/** Decodes one field of many records, with a separate loop per type to avoid a decision per value. */
final class FieldColumn {
  private FieldColumn() {}

  /** Decodes an integral field at {@code offset} from each of {@code from}. */
  static void decodeLongs(
      long[] to, int size, FieldType type, byte[] raw, int[] from, int offset, boolean bigEndian) {
    switch (type) {
      case I32:
        for (int i = 0; i < size; i++) {
          to[i] = Bytes.getInt(raw, from[i] + offset, bigEndian);
        }
        break;
      case U32:
        for (int i = 0; i < size; i++) {
          to[i] = Bytes.getU32(raw, from[i] + offset, bigEndian);
        }
        break;
      case BOOL:
        for (int i = 0; i < size; i++) {
          to[i] = raw[from[i] + offset];
        }
        break;
      default:
        for (int i = 0; i < size; i++) {
          to[i] = Bytes.getLong(raw, from[i] + offset, bigEndian);
        }
    }
  }

  /** Decodes a floating-point field at {@code offset} from each of {@code from}. */
  static void decodeDoubles(
      double[] to, int size, FieldType type, byte[] raw, int[] from, int offset, boolean bigEndian) {
    if (type == FieldType.F32) {
      for (int i = 0; i < size; i++) {
        to[i] = Float.intBitsToFloat(Bytes.getInt(raw, from[i] + offset, bigEndian));
      }
    } else {
      for (int i = 0; i < size; i++) {
        to[i] = Double.longBitsToDouble(Bytes.getLong(raw, from[i] + offset, bigEndian));
      }
    }
  }
}
