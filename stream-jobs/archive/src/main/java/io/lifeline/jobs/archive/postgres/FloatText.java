package io.lifeline.jobs.archive.postgres;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;

/** Formats floats as PostgreSQL does: the fewest digits that identify the value, and of those the nearest to it. */
final class FloatText {
  private static final BigDecimal TWO = BigDecimal.valueOf(2);

  /** Above a power of two the next value is twice as far as below it: there the nearest decimal may be too far. */
  private static final RoundingMode[] MODES = {RoundingMode.HALF_EVEN, RoundingMode.CEILING};

  /** Exponents below this one are written as such. */
  private static final int LEAST_FIXED = -4;

  /**
   * What is specific to a type.
   *
   * @param digits at most one decimal of so many digits identifies a normal value; larger exponents are written as such
   * @param minNormal below it, fewer digits may be enough
   * @param wholeBelow whole numbers below it have fewer digits
   * @param exactBelow no decimal of that few digits is half way between two values below it
   */
  private record Precision(int digits, double minNormal, double wholeBelow, double exactBelow) {}

  private static final Precision FLOAT = new Precision(6, Float.MIN_NORMAL, 1e6, 0x1p24);
  private static final Precision DOUBLE = new Precision(15, Double.MIN_NORMAL, 1e15, 0x1p53);

  private FloatText() {}

  static String of(double value) {
    return text(value, Double.toString(value), DOUBLE, Math.nextDown(Math.abs(value)), Math.ulp(value));
  }

  static String of(float value) {
    return text(value, Float.toString(value), FLOAT, Math.nextDown(Math.abs(value)), Math.ulp(value));
  }

  /**
   * @param java Java's text, which may have more digits than necessary before release 19
   * @param below the value before the absolute one
   * @param ulp distance from there to the next one
   */
  private static String text(double value, String java, Precision precision, double below, double ulp) {
    double size = Math.abs(value);
    if (!Double.isFinite(value)) {
      return java;
    }
    String sign = 1 / value < 0 || value < 0 ? "-" : "";
    if (size == Math.rint(size) && size < precision.wholeBelow()) {
      return sign + (long) size;
    }
    if (size >= precision.minNormal() && size < precision.exactBelow()) {
      BigDecimal decimal = new BigDecimal(java).abs().stripTrailingZeros();
      if (decimal.precision() <= precision.digits()) {
        return sign + format(decimal, precision);
      }
    }
    return sign + format(shortest(size, precision, below, ulp), precision);
  }

  /** Returns the shortest decimal nearer to the value than to any other. */
  private static BigDecimal shortest(double size, Precision precision, double below, double ulp) {
    BigDecimal exact = new BigDecimal(size);
    BigDecimal least = new BigDecimal(below).add(exact).divide(TWO);
    BigDecimal most = new BigDecimal(ulp).divide(TWO).add(exact);
    for (int digits = size < precision.minNormal() ? 1 : precision.digits(); ; digits++) {
      for (RoundingMode mode : MODES) {
        BigDecimal decimal = exact.round(new MathContext(digits, mode));
        if (decimal.compareTo(least) > 0 && decimal.compareTo(most) < 0) {
          return decimal.stripTrailingZeros();
        }
      }
    }
  }

  private static String format(BigDecimal decimal, Precision precision) {
    int exponent = decimal.precision() - decimal.scale() - 1;
    if (exponent >= LEAST_FIXED && exponent < precision.digits()) {
      return decimal.toPlainString();
    }
    String digits = decimal.unscaledValue().toString();
    return digits.charAt(0) + (digits.length() > 1 ? "." + digits.substring(1) : "") + (exponent < 0 ? "e-" : "e+")
        + (Math.abs(exponent) < 10 ? "0" : "") + Math.abs(exponent);
  }
}
