package io.lifeline.codec;

/**
 * Checks the sequences of an LZ4 block (lz4_Block_format.md). Decoders omit parts of this check: some copy from a
 * distance of 0, which discloses earlier content of their buffer.
 */
final class Lz4Block {
  private static final int MIN_MATCH = 4;
  private static final int LAST_LITERALS = 5;
  private static final int LAST_MATCH_BEFORE = 12;

  private final byte[] bytes;
  private final int end;
  private int at;

  private Lz4Block(byte[] bytes, int at, int end) {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
  }

  /** Returns whether the block yields exactly {@code rawLength} bytes, all of them its own. */
  static boolean isWellFormed(byte[] bytes, int at, int length, int rawLength) {
    return new Lz4Block(bytes, at, at + length).gives(rawLength);
  }

  private boolean gives(int rawLength) {
    int out = 0;
    while (at < end) {
      int token = bytes[at++] & 0xff;
      int literals = run(token >>> 4);
      at += literals;
      out += literals;
      if (at >= end) {
        return at == end && out == rawLength && (token & 15) == 0;
      }
      if (end - at < 2 || rawLength - out < LAST_MATCH_BEFORE) {
        return false;
      }
      int distance = Bytes.getU16(bytes, at, false);
      if (distance < 1 || distance > out) {
        return false;
      }
      at += 2;
      out += MIN_MATCH + run(token & 15);
      if (rawLength - out < LAST_LITERALS) {
        return false;
      }
    }
    return false;
  }

  /** Reads a length: a nibble, followed by bytes while they are 255. */
  private int run(int nibble) {
    int sum = nibble;
    for (boolean more = nibble == 15; more && at < end; at++) {
      int value = bytes[at] & 0xff;
      sum += value;
      more = value == 255;
    }
    return sum;
  }
}
