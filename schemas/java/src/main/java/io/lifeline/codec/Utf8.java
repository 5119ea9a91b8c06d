package io.lifeline.codec;

import java.nio.charset.StandardCharsets;

/** Well-formed UTF-8 as FORMAT defines it: no surrogates, no overlong forms, nothing above U+10FFFF. */
public final class Utf8 {
  private static final char REPLACEMENT = '\uFFFD';

  private Utf8() {}

  public static boolean isWellFormed(byte[] bytes, int offset, int length) {
    int end = offset + length;
    for (int at = offset; at < end; ) {
      int sequence = sequenceLength(bytes, at, end);
      if (sequence == 0) {
        return false;
      }
      at += sequence;
    }
    return true;
  }

  /** Returns the text, with U+FFFD for each byte that is not part of a well-formed sequence. */
  public static String decode(byte[] bytes, int offset, int length) {
    if (isWellFormed(bytes, offset, length)) {
      return new String(bytes, offset, length, StandardCharsets.UTF_8);
    }
    StringBuilder text = new StringBuilder(length);
    int end = offset + length;
    for (int at = offset; at < end; ) {
      int sequence = sequenceLength(bytes, at, end);
      if (sequence == 0) {
        text.append(REPLACEMENT);
        at++;
      } else {
        text.append(new String(bytes, at, sequence, StandardCharsets.UTF_8));
        at += sequence;
      }
    }
    return text.toString();
  }

  /** Returns the length of the well-formed sequence at {@code at}, or 0 if there is none (Unicode 15, table 3-7). */
  private static int sequenceLength(byte[] bytes, int at, int end) {
    int first = bytes[at];
    if (first >= 0) {
      return 1;
    }
    first &= 0xff;
    if (first >= 0xc2 && first <= 0xdf) {
      return continues(bytes, at + 1, end, 0x80, 0xbf) ? 2 : 0;
    }
    if (first >= 0xe0 && first <= 0xef) {
      int low = first == 0xe0 ? 0xa0 : 0x80;
      int high = first == 0xed ? 0x9f : 0xbf;
      return continues(bytes, at + 1, end, low, high) && continues(bytes, at + 2, end, 0x80, 0xbf) ? 3 : 0;
    }
    if (first >= 0xf0 && first <= 0xf4) {
      int low = first == 0xf0 ? 0x90 : 0x80;
      int high = first == 0xf4 ? 0x8f : 0xbf;
      return continues(bytes, at + 1, end, low, high)
              && continues(bytes, at + 2, end, 0x80, 0xbf)
              && continues(bytes, at + 3, end, 0x80, 0xbf)
          ? 4
          : 0;
    }
    return 0;
  }

  private static boolean continues(byte[] bytes, int at, int end, int low, int high) {
    return at < end && (bytes[at] & 0xff) >= low && (bytes[at] & 0xff) <= high;
  }
}
