package io.lifeline.codec;

import java.util.Locale;

/** Importance of an event type; the numbers are those of FORMAT section 4. */
public enum Level {
  FATAL,
  ERROR,
  WARN,
  INFO,
  DEBUG,
  DEBUG1,
  DEBUG2,
  DEBUG3;

  private static final Level[] VALUES = values();

  private final String label = name().toLowerCase(Locale.ROOT);

  /** Returns the number: 1 for fatal to 8 for debug3. */
  public int number() {
    return ordinal() + 1;
  }

  public String label() {
    return label;
  }

  /** Returns the level with that number, or null if there is none. */
  static Level ofNumber(int number) {
    return number >= 1 && number <= VALUES.length ? VALUES[number - 1] : null;
  }
}
