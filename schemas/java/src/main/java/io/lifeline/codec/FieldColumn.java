package io.lifeline.codec;

/**
 * Decodes one field of many records, with a separate loop per type to avoid a decision per value: of records that start
 * anywhere, and of a run of them.
 */
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

  /** Decodes an integral field at {@code at} and each {@code stride} bytes further, into {@code to[first]} and on. */
  static void decodeLongs(
      long[] to, int first, int last, FieldType type, byte[] raw, int at, int stride, boolean bigEndian) {
    switch (type) {
      case I32:
        for (int i = first; i < last; i++, at += stride) {
          to[i] = Bytes.getInt(raw, at, bigEndian);
        }
        break;
      case U32:
        for (int i = first; i < last; i++, at += stride) {
          to[i] = Bytes.getU32(raw, at, bigEndian);
        }
        break;
      case BOOL:
        for (int i = first; i < last; i++, at += stride) {
          to[i] = raw[at];
        }
        break;
      default:
        for (int i = first; i < last; i++, at += stride) {
          to[i] = Bytes.getLong(raw, at, bigEndian);
        }
    }
  }

  /** Decodes a floating-point field likewise. */
  static void decodeDoubles(
      double[] to, int first, int last, FieldType type, byte[] raw, int at, int stride, boolean bigEndian) {
    if (type == FieldType.F32) {
      for (int i = first; i < last; i++, at += stride) {
        to[i] = Float.intBitsToFloat(Bytes.getInt(raw, at, bigEndian));
      }
    } else {
      for (int i = first; i < last; i++, at += stride) {
        to[i] = Double.longBitsToDouble(Bytes.getLong(raw, at, bigEndian));
      }
    }
  }
}
