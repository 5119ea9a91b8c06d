package io.lifeline.codec;

/** The differences of FORMAT section 8: the tick in a row's first word, less that of the row before. */
final class TickDifferences {
  private TickDifferences() {}

  /** Replaces ticks by differences, from the last row to the first, so that the row before still has its tick. */
  static void take(byte[] rows, int length, int stride, boolean bigEndian) {
    for (int at = length / stride * stride - stride; at >= stride; at -= stride) {
      long before = Bytes.getLong(rows, at - stride, bigEndian) & ~BatchReader.TYPE_MASK;
      Bytes.putLong(rows, at, Bytes.getLong(rows, at, bigEndian) - before, bigEndian);
    }
  }

  /** Replaces differences by ticks. Sums up ticks alone, which is one dependent addition per row. */
  static void undo(byte[] rows, int length, int stride, boolean bigEndian) {
    long tick = 0;
    for (int at = 0; at <= length - stride; at += stride) {
      long word = Bytes.getLong(rows, at, bigEndian);
      tick += word & ~BatchReader.TYPE_MASK;
      Bytes.putLong(rows, at, tick | word & BatchReader.TYPE_MASK, bigEndian);
    }
  }
}
