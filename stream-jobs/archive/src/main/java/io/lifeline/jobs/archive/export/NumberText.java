package io.lifeline.jobs.archive.export;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;

/**
 * Writes finite numbers with the fewest digits that read back as the same value, exactly as {@code lifeline-cat}:
 * {@code schemas/vectors/text} holds both to the same text.
 */
final class NumberText {
  private static final double[] POWERS = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
  private static final double EXACT = 1L << 53;
  private static final int MAX_DIGITS = 17;
  private static final int LEAST_DIGITS = 15;
  private static final int LEAST_DIGITS_OF_FLOAT = 6;
  private static final int LEAST_FIXED_EXPONENT = -4;

  private NumberText() {}

  static void append(StringBuilder out, double value) {
    append(out, value, false);
  }

  static void append(StringBuilder out, float value) {
    append(out, value, true);
  }

  private static void append(StringBuilder out, double value, boolean isFloat) {
    double size = Math.abs(value);
    if (value < 0 || value == 0 && 1 / value < 0) {
      out.append('-');
    }
    if (size == 0 || size >= 1e-5) {
      for (int places = 0; places < POWERS.length && size * POWERS[places] < EXACT; places++) {
        double digits = Math.rint(size * POWERS[places]);
        if (isSame(digits / POWERS[places], size, isFloat)) {
          appendFixed(out, Long.toString((long) digits), places);
          return;
        }
      }
    }
    BigDecimal exact = new BigDecimal(size);
    for (int digits = isFloat ? LEAST_DIGITS_OF_FLOAT : LEAST_DIGITS; ; digits++) {
      BigDecimal rounded = exact.round(new MathContext(digits, RoundingMode.HALF_EVEN));
      if (digits == MAX_DIGITS || isSame(rounded.doubleValue(), size, isFloat)) {
        appendGeneral(out, rounded, digits);
        return;
      }
    }
  }

  private static boolean isSame(double read, double size, boolean isFloat) {
    return isFloat ? (float) read == (float) size : read == size;
  }

  private static void appendFixed(StringBuilder out, String digits, int places) {
    String padded = "0".repeat(Math.max(0, places + 1 - digits.length())) + digits;
    int whole = padded.length() - places;
    out.append(padded, 0, whole);
    if (places > 0) {
      out.append('.').append(padded, whole, padded.length());
    }
  }

  /** Writes as C's {@code %g} does. */
  private static void appendGeneral(StringBuilder out, BigDecimal value, int digits) {
    BigDecimal stripped = value.stripTrailingZeros();
    int exponent = stripped.precision() - stripped.scale() - 1;
    if (exponent >= LEAST_FIXED_EXPONENT && exponent < digits) {
      out.append(stripped.toPlainString());
      return;
    }
    String text = stripped.unscaledValue().toString();
    out.append(text.charAt(0));
    if (text.length() > 1) {
      out.append('.').append(text, 1, text.length());
    }
    out.append(exponent < 0 ? "e-" : "e+").append(Math.abs(exponent) < 10 ? "0" : "").append(Math.abs(exponent));
  }
}
