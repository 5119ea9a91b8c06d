package io.lifeline.codec;

/** Fixed-width lower-case hexadecimal. */
final class Hex {
  private static final String DIGITS = "0123456789abcdef";

  private Hex() {}

  /** Returns all sixteen digits of {@code value}. */
  static String of(long value) {
    char[] digits = new char[16];
    for (int i = 0; i < 16; i++) {
      digits[i] = DIGITS.charAt((int) (value >>> (60 - 4 * i)) & 15);
    }
    return new String(digits);
  }
}
